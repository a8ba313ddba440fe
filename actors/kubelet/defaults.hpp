// The numbers of the kubelet, with where they come from.
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
// A container that writes more waits; its whole log is rotated away in six seconds then.
inline constexpr std::int64_t log_bytes_per_second = 8 << 20;

// kubernetes: MaxContainerBackOff and the delay it begins with; a container that ran for twice the
// longest starts with the first delay again.
inline constexpr auto restart_first = 10s;
// How long the guard of a pod's network has to answer: nft may take as long, twice, when another
// script is under way.
inline constexpr auto guard_limit = 60s;
inline constexpr auto restart_longest = 300s;
inline constexpr auto restart_forgotten = 600s;

// kubernetes: nodeStatusUpdateFrequency and nodeStatusReportFrequency, maxPods.
inline constexpr auto node_status_period = 10s;
inline constexpr auto node_report_period = 5min;
inline constexpr int max_pods = 110;

// kubernetes: pod_workers.go, resync of a pod that is well.
inline constexpr auto pod_resync = 60s;
// A worker that has sent no `need_references` for this long has ended.
inline constexpr auto references_forgotten = 5min;
// How often the directories of pods are compared with the pods.
inline constexpr auto orphan_sweep = 60s;

// kubernetes: kuberuntime_container.go, minimumGracePeriodInSeconds.
inline constexpr auto grace_after_hook = 2s;
// SIGKILL is sent again to a container that is still there.
inline constexpr auto kill_again = 1s;

// kubernetes: probes read at most so much of an answer. What of it an event repeats.
inline constexpr std::size_t check_output_bytes = 10u << 10;
inline constexpr std::size_t event_text_bytes = 1024;
// Of a command's output, at a time.
inline constexpr std::size_t exec_part_bytes = 16u << 10;
// Of a port, and of what a runtime by CRI streams: each part takes some thread switches on its way.
inline constexpr std::size_t stream_part_bytes = 128u << 10;
// Those who are attached to one container. What they have not read of it waits for them: as much as
// it may write in two seconds (log_bytes_per_second), so that a burst alone cuts nobody off.
inline constexpr std::size_t attach_limit = 16;
inline constexpr std::size_t attach_backlog_bytes = 16u << 20;
// What a shim may take to answer; how long the last of a container's output waits for its readers.
inline constexpr auto attach_patience = 10s;
inline constexpr auto attach_farewell = 10s;
// How often a shim that hung up is looked at, `look_at_start` apart, before it counts as alive.
inline constexpr int attach_looks = 10;
// What a port of this very machine may take to answer.
inline constexpr auto port_patience = 10s;
// Probes and hooks that run at a time; checks that may wait.
inline constexpr std::size_t probe_threads = 16;
inline constexpr std::size_t hook_threads = 8;
inline constexpr std::size_t check_queue = 1'000;
// A postStart hook that takes longer has failed.
inline constexpr auto longest_hook = 10min;

// kubernetes: a volume that could not be set up is tried again after 500 ms, then twice as long.
inline constexpr auto volume_retry_first = 500ms;
inline constexpr auto volume_retry_longest = 2min;

// What mounting a share of an NFS server may take, and how many are mounted at a time: one that
// does not answer leaves threads for the volumes of other pods.
inline constexpr auto nfs_mount_limit = 20s;
inline constexpr int nfs_mounts_at_once = 2;

// kubernetes: how often the eviction manager looks, and the time that it leaves a pod. Files that
// are looked at in one volume.
inline constexpr auto volume_measuring = 10s;
inline constexpr auto eviction_grace = 1s;
inline constexpr std::size_t measured_files = 100'000;

// Of what may hold secrets, in memory: a secret holds 1 MiB at most, a projected volume several,
// and while it changes both its old and its new files.
inline constexpr std::int64_t secret_volume_bytes = 64 << 20;
// A seccomp profile of a node; containerd's own has some 20 KiB.
inline constexpr std::size_t seccomp_profile_bytes = 1u << 20;

// kubernetes: eviction/types.go and the kubelet's defaults of evictionHard; how often the machine
// is looked at (monitoringInterval), and how long a condition holds on
// (evictionPressureTransitionPeriod).
inline constexpr std::int64_t eviction_memory_bytes = 100 << 20;
inline constexpr std::int64_t eviction_disk_percent = 10;
inline constexpr std::int64_t eviction_inodes_percent = 5;
inline constexpr auto pressure_period = 10s;
inline constexpr auto pressure_transition = 5min;
// kubernetes: apis/scheduling, SystemCriticalPriority: 2 * HighestUserDefinablePriority.
inline constexpr std::int32_t system_critical_priority = 2'000'000'000;

// A status write that met a newer state or a busy writer is tried again after this.
inline constexpr auto status_retry = 1s;
inline constexpr auto write_timeout = 30s;

// How long a container and its shim may take to go once they are killed, when a machine leaves.
inline constexpr auto leftover_patience = 5s;

// Threads that start, signal and look after processes; jobs that may wait for them.
inline constexpr std::size_t runtime_threads = 2;
inline constexpr std::size_t runtime_queue = 10'000;
// Logs are read here; those that wait are asked for again.
inline constexpr std::size_t log_threads = 1;
inline constexpr std::size_t log_queue = 1'000;

// cadvisor: housekeeping_interval; who asks within it gets the figures of the last look.
inline constexpr auto usage_fresh = 10s;
// Between the two looks of whom nobody asked for a while: cheap to wait for, and with a clock that
// ticks every 10 ms good to 4 % of a processor.
inline constexpr auto usage_first_window = 250ms;
// An older look gives no rate of now (metrics-server: kubelets are asked every 60 s at most).
inline constexpr auto usage_longest_window = 60s;
// A shorter one gives no rate at all: a few ticks of the clock.
inline constexpr auto usage_shortest_window = 100ms;
// A look that takes longer is given up, and the next who asks begins another one.
inline constexpr auto usage_look_limit = 10s;
// Who waits for the same look.
inline constexpr std::size_t usage_askers = 1'000;
// Processes of the machine that are looked at: the kernel's pid_max of small machines.
inline constexpr std::size_t usage_processes = 32'768;

// What could not be looked at, for want of descriptors or memory, is looked at again after this.
inline constexpr auto look_again = 1000ms;
// A container that is being started is looked at again after this, by who follows it.
inline constexpr auto look_at_start = 20ms;

// A pod's group that has gone meanwhile is made again so many times.
inline constexpr int cgroup_making_tries = 5;
// What was killed leaves its control group within milliseconds, unless the kernel is busy with it.
inline constexpr int cgroup_removal_tries = 100;
inline constexpr int cgroup_removal_pause_ms = 10;

}  // namespace troupe::actors::kubelet_defaults
