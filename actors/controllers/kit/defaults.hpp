// The numbers that all controllers share, with where they come from.
#pragma once

#include <chrono>

namespace troupe::actors::defaults {

using namespace std::chrono_literals;

// A failed sync is tried again after 5 ms, doubling up to 1000 s
// (client-go workqueue.DefaultControllerRateLimiter).
inline constexpr auto sync_retry_first = 5ms;
inline constexpr auto sync_retry_longest = 1000s;

// How soon a controller that got no answer to its barrier, or a refusal, asks again.
inline constexpr auto barrier_retry = 1s;

// A full look at all dependents, whatever the watcher said (level-triggered safety net).
inline constexpr auto resync_period = 10min;
// Between two syncs, for each object that the first one has scanned: some hundred times what the
// scan takes, so that changes of many objects gather.
inline constexpr std::chrono::microseconds pause_per_object{20};

}  // namespace troupe::actors::defaults
