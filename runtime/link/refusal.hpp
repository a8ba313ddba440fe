// Connections that came to no session at a listener: reasons, counts, and the text for each.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::runtime::link {

enum class refusal_reason : std::uint8_t {
  connections_limit,  // as many are held as allowed
  handshakes_limit,   // the oldest one in its handshake, cut for a newer one
  handshake_timeout,  // no session within `defaults::handshake_limit`
  handshake_failed,  // ended before there was one: no TLS, no certificate of the authority, silence
  session_refused,   // its certificate, its hello or the acceptor is against it
  out_of_descriptors,  // the process, or the kernel, has no more of them
};
inline constexpr std::size_t refusal_reasons = 6;

// As a metric's label: "handshake_failed".
std::string_view to_string(refusal_reason reason) noexcept;

// Valid during the call that it is handed to.
struct refusal {
  refusal_reason reason{};
  std::string peer;    // host and port; empty without a descriptor to ask
  std::string detail;  // of a session that was refused: why, in one line
};

// Counted since the listener started. A connection counts once; of one with several calls, each
// call that is refused does.
struct listener_stats {
  std::array<std::uint64_t, refusal_reasons> refused{};
};

}  // namespace troupe::runtime::link
