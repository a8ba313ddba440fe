// The numbers of the deployment controller, with where they come from.
#pragma once

#include <chrono>

namespace troupe::actors::deployments::defaults {

using namespace std::chrono_literals;

// client-go workqueue.DefaultControllerRateLimiter
inline constexpr auto retry_first = 5ms;
inline constexpr auto retry_longest = 1000s;

// A transaction that the writer has not answered by then counts as failed; the next sync looks
// again.
inline constexpr auto write_timeout = 30s;

// A full look, whatever the watcher said.
inline constexpr auto resync_period = 10min;

// progressDeadlineSeconds of this or more means "no deadline" (kubernetes:
// deployment/util.HasProgressDeadline, MaxInt32).
inline constexpr int no_deadline = 2'147'483'647;

// Recreate waits for the last old pod to be gone; pods that terminate cause no event of the set.
inline constexpr auto pods_left_recheck = 1s;

// Past revisions that the annotation revision-history may name, in characters (deployment/util).
inline constexpr std::size_t history_limit_chars = 2'000;

}  // namespace troupe::actors::deployments::defaults
