// Constants of the kubelet's behaviour, each with its source.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::actors::kubelet_defaults {

using namespace std::chrono_literals;

// kubernetes: nodeLeaseDurationSeconds 40, renewed at a quarter of it.
inline constexpr auto lease_duration = 40s;
inline constexpr auto lease_renewal = 10s;

// kubernetes: containerLogMaxSize 10Mi, containerLogMaxFiles 5; CRI cuts lines at 16 KiB.
inline constexpr std::size_t log_file_bytes = 10u << 20;
inline constexpr int log_files = 5;
inline constexpr std::size_t log_line_bytes = 16u << 10;

// kubernetes: MaxContainerBackOff and its initial delay; a container that ran for at least twice
// the maximum starts again with the initial delay.
inline constexpr auto restart_first = 10s;
inline constexpr auto restart_longest = 300s;
inline constexpr auto restart_forgotten = 600s;

// How long the guard of a pod's network may take to answer: nft may need as long, twice, when
// another script is being applied.
inline constexpr auto guard_limit = 60s;

// kubernetes: nodeStatusReportFrequency, maxPods.
inline constexpr auto node_report_period = 5min;
inline constexpr int max_pods = 110;

// How often the machine's resolv.conf is checked for changes.
inline constexpr auto resolver_check = 5s;

// kubernetes: pod_workers.go, resync of a healthy pod.
inline constexpr auto pod_resync = 60s;
// A worker that has sent no `need_references` for this long has ended.
inline constexpr auto references_forgotten = 5min;
// How often the pod directories on the disk are compared with the known pods.
inline constexpr auto orphan_sweep = 60s;

// kubernetes: kuberuntime_container.go, minimumGracePeriodInSeconds.
inline constexpr auto grace_after_hook = 2s;
// kubernetes: pod_workers.go, killPodNow: how long the end of a pod may take at least.
inline constexpr auto least_kill_limit = 10s;
// SIGKILL is sent again at this interval until the container is gone.
inline constexpr auto kill_again = 1s;

// kubernetes: a probe reads at most this many bytes of output; an event repeats the second figure.
inline constexpr std::size_t check_output_bytes = 10u << 10;
inline constexpr std::size_t event_text_bytes = 1024;
// A command's output is read in parts of this size.
inline constexpr std::size_t exec_part_bytes = 16u << 10;
// The same for ports and CRI streams, whose parts each cost some thread switches.
inline constexpr std::size_t stream_part_bytes = 128u << 10;
// Probes and hooks that run at the same time; checks that may wait in the queue.
inline constexpr std::size_t probe_threads = 16;
inline constexpr std::size_t hook_threads = 8;
inline constexpr std::size_t check_queue = 1'000;
// A postStart hook that takes longer has failed.
inline constexpr auto longest_hook = 10min;

// kubernetes: volume setup that failed is retried after 500 ms, then the delay doubles.
inline constexpr auto volume_retry_first = 500ms;
inline constexpr auto volume_retry_longest = 2min;

// Timeout of mounting an NFS share, and how many are mounted at a time: a server that does not
// answer leaves threads for the volumes of other pods.
inline constexpr auto nfs_mount_limit = 20s;
inline constexpr int nfs_mounts_at_once = 2;

// How long the file system of a path of the machine may take to answer, and how many paths may be
// late at a time, each of which keeps a thread.
inline constexpr auto path_check_limit = 10'000ms;
inline constexpr std::size_t late_path_checks = 64;

// kubernetes: period of the eviction manager, and the grace period of an evicted pod. The last is
// the maximum number of files measured in one volume or log.
inline constexpr auto storage_measuring = 10s;
inline constexpr auto eviction_grace = 1s;
inline constexpr std::size_t measured_files = 100'000;

// Size of an in-memory volume that may hold secrets: a secret has at most 1 MiB, a projected volume
// several secrets, and during an update both the old and the new files exist.
inline constexpr std::int64_t secret_volume_bytes = 64 << 20;
// Maximum size of a seccomp profile file; containerd's own profile has some 20 KiB.
inline constexpr std::size_t seccomp_profile_bytes = 1u << 20;

// kubernetes: eviction/types.go and the kubelet's default evictionHard; the period of the check
// (monitoringInterval), and how long a condition stays true after the shortage ends
// (evictionPressureTransitionPeriod).
inline constexpr std::int64_t eviction_memory_bytes = 100 << 20;
inline constexpr std::int64_t eviction_disk_percent = 10;
inline constexpr std::int64_t eviction_inodes_percent = 5;
inline constexpr std::int64_t eviction_image_disk_percent = 15;
inline constexpr std::int64_t eviction_pids_percent = 5;  // kubernetes has no default
inline constexpr auto pressure_period = 10s;
inline constexpr auto pressure_transition = 5min;
// How long the removal of unused images may delay an eviction for the disk.
inline constexpr auto free_disk_limit = 60s;
// kubernetes: apis/scheduling, SystemCriticalPriority: 2 * HighestUserDefinablePriority.
inline constexpr std::int32_t system_critical_priority = 2'000'000'000;

// A status write that met a newer state or a busy writer is retried after this.
inline constexpr auto status_retry = 1s;
inline constexpr auto write_timeout = 30s;

// Threads that start, signal and supervise processes, and set up volumes; jobs that may wait for
// them.
inline constexpr std::size_t runtime_threads = 3;
static_assert(nfs_mounts_at_once < runtime_threads);
inline constexpr std::size_t runtime_queue = 10'000;
// Threads that read logs; a read that finds the queue full is requested again.
inline constexpr std::size_t log_threads = 1;
inline constexpr std::size_t log_queue = 1'000;

// Maximum number of pods whose network devices are read.
inline constexpr std::size_t measured_networks = 2'000;
// cadvisor: housekeeping_interval; a request within this time gets the figures of the last reading.
inline constexpr auto usage_fresh = 10s;
// Time between the two readings after a long pause without requests: short to wait for, and exact
// to 4 % of a processor with a clock that ticks every 10 ms.
inline constexpr auto usage_first_window = 250ms;
// An older reading gives no current rate (metrics-server asks kubelets every 60 s at most).
inline constexpr auto usage_longest_window = 60s;
// A shorter interval is only a few clock ticks and gives no rate.
inline constexpr auto usage_shortest_window = 100ms;
// A reading that takes longer is abandoned; the next request starts another one.
inline constexpr auto usage_check_limit = 10s;
// Maximum number of requests that wait for the same reading.
inline constexpr std::size_t usage_askers = 1'000;

// A check that failed for lack of descriptors or memory is repeated after this.
inline constexpr auto recheck_delay = 1000ms;

}  // namespace troupe::actors::kubelet_defaults
