// The constants of certificate requests with their sources (upstream:
// pkg/controller/certificates/{signer,cleaner}).
#pragma once

#include <chrono>

namespace troupe::actors::certificates::defaults {

using namespace std::chrono_literals;

// The maximum and default validity of a certificate, and the minimum.
inline constexpr std::chrono::seconds longest_lifetime = 8'760h;
inline constexpr std::chrono::seconds shortest_lifetime = 10min;
// Certificates are backdated for clocks that are behind; a validity below `short_lifetime` is
// extended by this time.
inline constexpr std::chrono::seconds backdated = 5min;
inline constexpr std::chrono::seconds short_lifetime = 8h;

// Requests are deleted this long after their decision, or after their creation if undecided.
inline constexpr std::chrono::seconds decided_kept = 1h;
inline constexpr std::chrono::seconds pending_kept = 24h;
// The period of the cleanup (upstream: an hour).
inline constexpr std::chrono::seconds sweep = 1h;
// The pause before a failed write is retried.
inline constexpr std::chrono::seconds retry = 1s;

}  // namespace troupe::actors::certificates::defaults
