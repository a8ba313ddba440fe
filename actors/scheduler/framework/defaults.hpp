// The constants of the scheduler with their sources.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::actors::scheduler::defaults {

using namespace std::chrono_literals;

// kubernetes: v1.DefaultSchedulerName.
inline constexpr const char* scheduler_name = "default-scheduler";

// kubernetes: scheduling_queue.go, DefaultPodInitialBackoffDuration and …MaxBackoffDuration.
inline constexpr auto backoff_first = 1s;
inline constexpr auto backoff_longest = 10s;
// kubernetes v0.4: plugin/pkg/scheduler/factory, podBackoff.
inline constexpr auto backoff_longest_2014 = 60s;
// kubernetes: DefaultPodMaxInUnschedulablePodsDuration, checked every 30 s.
inline constexpr auto unschedulable_longest = 5min;
inline constexpr auto flush_period = 30s;

// kubernetes: schedule_one.go, numFeasibleNodesToFind.
inline constexpr std::size_t min_feasible_nodes = 100;
inline constexpr std::size_t min_feasible_percent = 5;

// kubernetes: DefaultPreemption, minCandidateNodesPercentage and …Absolute.
inline constexpr std::size_t min_candidates_percent = 10;
inline constexpr std::size_t min_candidates = 100;

// kubernetes: image_locality.go, minThreshold and maxContainerThreshold.
inline constexpr std::int64_t least_image_bytes = 23 << 20;
inline constexpr std::int64_t most_image_bytes = 1000 << 20;
// In one configuration. Our own limit: each profile has plugins of its own.
inline constexpr int most_profiles = 64;

// Pods scheduled before the actor handles other messages, so that node events are not
// delayed.
inline constexpr std::size_t pods_in_a_row = 64;
// The maximum of binds in flight; the scheduler then waits for answers.
inline constexpr std::size_t binds_limit = 4'000;
inline constexpr auto bind_timeout = 30s;
// kubernetes: VolumeBindingArgs.bindTimeoutSeconds.
inline constexpr auto volume_timeout = 600s;
// The pause before a barrier without an answer, or with an error, is repeated.
inline constexpr auto barrier_retry = 1s;

}  // namespace troupe::actors::scheduler::defaults
