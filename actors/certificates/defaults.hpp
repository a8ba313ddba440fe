// The constants of requests for certificates and where they come from (upstream:
// pkg/controller/certificates/{signer,cleaner}).
#pragma once

#include <chrono>

namespace troupe::actors::certificates::defaults {

using namespace std::chrono_literals;

// How long a certificate is good: at most, and where nobody says it; and at least.
inline constexpr std::chrono::seconds longest_life = 8'760h;
inline constexpr std::chrono::seconds shortest_life = 10min;
// It is good from a little earlier on, for clocks that are behind; one that is to last for less
// than `short_life` is given that time in addition.
inline constexpr std::chrono::seconds backdated = 5min;
inline constexpr std::chrono::seconds short_life = 8h;

// Requests that nobody needs any more are deleted: decided ones, and those that wait.
inline constexpr std::chrono::seconds decided_kept = 1h;
inline constexpr std::chrono::seconds pending_kept = 24h;
// How often it is looked for them (upstream: an hour).
inline constexpr std::chrono::seconds sweep = 1h;
// A write that failed is tried again.
inline constexpr std::chrono::seconds retry = 1s;

}  // namespace troupe::actors::certificates::defaults
