// Named constants of joining and leaving.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::tools::join_defaults {

using namespace std::chrono_literals;

// A machine that cannot join says so within five seconds: connecting takes three at most, and all
// of it together leaves room to end.
inline constexpr std::chrono::milliseconds connect_limit = 3s;
inline constexpr std::chrono::milliseconds total_limit = 4500ms;
// A server that is still starting is asked again.
inline constexpr std::chrono::milliseconds ask_again = 300ms;
// Fresh certificates are dated back by as much; beyond it they are not valid yet for one of us.
inline constexpr std::chrono::seconds clock_skew_limit = 5min;
inline constexpr std::size_t answer_limit_bytes = 64u << 10;
inline constexpr std::size_t token_limit_bytes = 1u << 10;

// A certificate is renewed when a third of its life is left, up to a tenth of that third earlier,
// so that nodes which joined together do not all come at once.
inline constexpr double renew_below = 1.0 / 3;
inline constexpr double renew_jitter = 0.1;
inline constexpr std::chrono::milliseconds renew_retry_first = 1s;
inline constexpr std::chrono::milliseconds renew_retry_longest = 10min;
// The wall clock may be set while the keeper waits.
inline constexpr std::chrono::milliseconds clock_check_period = 1h;

inline constexpr std::chrono::milliseconds leave_timeout = 5min;
inline constexpr std::chrono::milliseconds leave_poll = 500ms;
// From the goodbye of the control plane to the end of the node's process, and from SIGTERM on.
inline constexpr std::chrono::milliseconds process_end = 5s;

}  // namespace troupe::tools::join_defaults
