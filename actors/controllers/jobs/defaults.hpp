// The constants of the Job controller with their sources.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::actors::jobs::defaults {

using namespace std::chrono_literals;

// Pods created or deleted in one sync (kubernetes: job.MaxPodCreateDeletePerSync).
inline constexpr std::size_t burst_pods = 500;
// Pods counted in one transaction (kubernetes: job.MaxUncountedPods).
inline constexpr std::size_t counted_pods = 500;

// A failed pod is replaced after this pause, which doubles with each failure since the last success
// (kubernetes: job.DefaultJobPodFailureBackOff, MaxJobPodFailureBackOff).
inline constexpr std::int64_t failure_backoff_seconds = 10;
inline constexpr std::int64_t failure_backoff_longest_seconds = 600;

// The pause between two syncs of a job, so that changes of several pods cause one status write.
// Upstream waits for 1 s (job.syncJobBatchPeriod); our status writes are cheaper.
inline constexpr auto sync_pause = 20ms;

// The longest wait before the clock is read again: it may be set forward.
inline constexpr std::int64_t longest_wait_seconds = 3600;

// The maximum of finalizer removals in flight for pods without a job.
inline constexpr std::size_t releases_under_way = 64;
// The period in which failed finalizer removals are retried.
inline constexpr auto orphan_check = 30s;

}  // namespace troupe::actors::jobs::defaults
