// The constants that all controllers share, with their sources.
#pragma once

#include <chrono>

namespace troupe::actors::defaults {

using namespace std::chrono_literals;

// A failed sync is retried after 5 ms, doubling up to 1000 s (client-go
// workqueue.DefaultControllerRateLimiter).
inline constexpr auto sync_retry_first = 5ms;
inline constexpr auto sync_retry_longest = 1000s;

// The pause before a barrier without an answer, or with an error, is repeated.
inline constexpr auto barrier_retry = 1s;

// The period of full resyncs, in case events were lost (level-triggered safety net).
inline constexpr auto resync_period = 10min;
// The pause between two syncs, for each object that the first has scanned: about a hundred times
// the cost of the scan, so that changes of many objects are batched.
inline constexpr std::chrono::microseconds pause_per_object{20};

}  // namespace troupe::actors::defaults
