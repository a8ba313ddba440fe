// The numbers of the job controller, with where they come from.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::actors::jobs::defaults {

using namespace std::chrono_literals;

// Pods created or deleted in one sync (kubernetes: job.MaxPodCreateDeletePerSync).
inline constexpr std::size_t burst_pods = 500;
// Pods that are counted in one transaction (kubernetes: job.MaxUncountedPods).
inline constexpr std::size_t counted_pods = 500;

// A failed pod is replaced after so long, doubling with each failure since the last success
// (kubernetes: job.DefaultJobPodFailureBackOff, MaxJobPodFailureBackOff).
inline constexpr std::int64_t failure_backoff_seconds = 10;
inline constexpr std::int64_t failure_backoff_longest_seconds = 600;

// Between two looks at a job: changes of several pods make one status. Upstream waits for 1 s
// (job.syncJobBatchPeriod); our status costs less.
inline constexpr auto sync_pause = 20ms;

// A job that waits for a time looks at the clock at least so often: it may be set forward.
inline constexpr std::int64_t longest_wait_seconds = 3600;

// Finalizers of pods without a job that are being removed at a time.
inline constexpr std::size_t releases_under_way = 64;
// How often all tracked pods are looked at: those whose release had failed.
inline constexpr auto orphan_check = 30s;

}  // namespace troupe::actors::jobs::defaults
