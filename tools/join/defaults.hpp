// Named constants of joining and leaving.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace troupe::tools::join_defaults {

using namespace std::chrono_literals;

// A machine that cannot join reports it within five seconds: connecting takes three at most, and
// the total limit leaves time to end.
inline constexpr std::chrono::milliseconds connect_limit = 3s;
inline constexpr std::chrono::milliseconds total_limit = 4500ms;
// Pause before a server that is still starting is called again.
inline constexpr std::chrono::milliseconds ask_again = 300ms;
// New certificates are dated back by this; if clocks differ by more, they are not valid yet.
inline constexpr std::chrono::seconds clock_skew_limit = 5min;
inline constexpr std::size_t answer_limit_bytes = 64u << 10;
inline constexpr std::size_t token_limit_bytes = 1u << 10;

// A certificate is renewed when a third of its life is left, up to a tenth of that third earlier,
// so that nodes which joined together do not renew at the same time.
inline constexpr double renew_below = 1.0 / 3;
inline constexpr double renew_jitter = 0.1;
inline constexpr std::chrono::milliseconds renew_retry_first = 1s;
inline constexpr std::chrono::milliseconds renew_retry_longest = 10min;
// How often the wall clock is read again: it may be set while the thread waits.
inline constexpr std::chrono::milliseconds clock_check_period = 1h;

inline constexpr std::string_view loopback_warning =
    "the API listens on loopback only, so that no other machine can join: start it with "
    "--listen 0.0.0.0:6443, or with an address of its network";

inline constexpr std::chrono::milliseconds leave_timeout = 5min;
inline constexpr std::chrono::milliseconds leave_poll = 500ms;
// From the control plane's goodbye to the end of the node's process, and from SIGTERM on.
inline constexpr std::chrono::milliseconds process_end = 5s;

}  // namespace troupe::tools::join_defaults
