// Connections to a listener that did not become sessions: reasons, counts and messages.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::runtime::link {

enum class refusal_reason : std::uint8_t {
  connections_limit,   // the maximum of connections is open
  handshakes_limit,    // the oldest handshake, closed for a newer one
  handshake_timeout,   // no session within `defaults::handshake_limit`
  handshake_failed,    // ended in the handshake: no TLS, no certificate of the CA, no data
  session_refused,     // rejected because of its certificate, its hello or by the acceptor
  out_of_descriptors,  // the process or the kernel has no free file descriptor
};
inline constexpr std::size_t refusal_reasons = 6;

// The value of the metric's label: "handshake_failed".
std::string_view to_string(refusal_reason reason) noexcept;

// Valid during the callback.
struct refusal {
  refusal_reason reason{};
  std::string peer;    // host and port; empty if unknown
  std::string detail;  // for session_refused: the error in one line
};

// Counters since the listener started. A connection counts once, except that each rejected call of
// a connection counts.
struct listener_stats {
  std::array<std::uint64_t, refusal_reasons> refused{};
};

}  // namespace troupe::runtime::link
