// Constants of the CRI runtime's behaviour, each with its source.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::actors::cri_defaults {

using namespace std::chrono_literals;

// Threads for files.
inline constexpr std::size_t job_threads = 2;
// Maximum number of pending calls.
inline constexpr std::size_t calls = 1'000;
// kubernetes: maxMsgSize 16 MiB.
inline constexpr std::size_t message_bytes = 16u << 20;
// HTTP/2 receive window; its default of 64 KiB would cost a list of many pods extra round trips.
inline constexpr std::int32_t window_bytes = 1 << 20;

// kubernetes: runtimeRequestTimeout 2 min, doubled for a sandbox (a slow disk, a network).
inline constexpr auto call_timeout = 2min;
inline constexpr auto sandbox_timeout = 4min;
// A pull has no deadline upstream; this only bounds the wait.
inline constexpr auto pull_timeout = 1h;
inline constexpr auto version_timeout = 2s;
// kubernetes: DefaultStreamCreationTimeout.
inline constexpr auto stream_timeout = 30s;

// kubernetes: relists every 300 s with events, every second without. A broken event stream loses
// events.
inline constexpr auto relist = 10s;
inline constexpr auto relist_without_events = 1s;
inline constexpr auto events_again = 1s;
// The first and the last wait between two looks at the status of a container that has ended.
inline constexpr auto ended_first = 5ms;
inline constexpr auto ended_last = 500ms;
// A list that failed is requested again after this.
inline constexpr auto ask_again = 1s;
// kubernetes: updateRuntimeUp, every 5 s.
inline constexpr auto health_period = 5s;
// Between two looks at the image of sandboxes: while it is there, and while it is missing; a pull
// that is not answered at the next look is a problem of the node.
inline constexpr auto sandbox_image_check = 30s;
inline constexpr auto sandbox_image_again = 10s;

// kubernetes: initial and maximum back-off of pulls (MaxContainerBackOff).
inline constexpr auto pull_backoff_first = 10s;
inline constexpr auto pull_backoff_longest = 5min;
// kubernetes: imageGCHighThresholdPercent, imageGCLowThresholdPercent, imageMinimumGCAge and
// ImageGCPeriod.
inline constexpr int image_high_percent = 85;
inline constexpr int image_low_percent = 80;
inline constexpr auto image_smallest_age = 2min;
inline constexpr auto image_collection = 5min;
// kubernetes: image_gc_manager.go, the image cache; nodeStatusMaxImages and
// MaxNamesPerImageInNodeStatus.
inline constexpr auto image_listing = 30s;
inline constexpr std::size_t images_of_node = 50;
inline constexpr std::size_t names_of_image = 5;
// kubernetes: containerLogMonitorInterval.
inline constexpr auto log_rotation = 10s;
// kubernetes: one pull at a time (serializeImagePulls), so that one endless pull stops all others.
inline constexpr std::size_t pulls_at_once = 8;
inline constexpr std::size_t pulls_of_namespace = 2;
// Maximum number of remembered failed pulls, and of waiting pulls.
inline constexpr std::size_t failed_pulls = 1'000;
inline constexpr std::size_t waiting_pulls = 1'000;
// Maximum number of images whose users are remembered until the container is created.
inline constexpr std::size_t known_users = 1'000;

// kubernetes: cm/helpers_linux.go and qos/policy.go.
inline constexpr auto systemctl_limit = 30s;
inline constexpr std::int64_t cpu_period_us = 100'000;
inline constexpr std::int64_t smallest_quota_us = 1'000;
inline constexpr std::int64_t smallest_shares = 2, largest_shares = 262'144;
inline constexpr std::int64_t shares_of_one = 1024;  // of one processor
inline constexpr std::int64_t guaranteed_oom_score = -997;
inline constexpr std::int64_t best_effort_oom_score = 1000;

// kubernetes: the default cluster domain; the limits of a host name in Kubernetes and in Linux.
inline constexpr const char* cluster_domain = "cluster.local";
inline constexpr std::size_t host_name_bytes = 63;
inline constexpr std::size_t kernel_host_name_bytes = 64;

// kubernetes: MaxContainerTerminationMessageLength and …LogLength, …LogLines.
inline constexpr std::size_t termination_message_bytes = 4096;
inline constexpr std::size_t termination_log_bytes = 2048;
inline constexpr std::size_t termination_log_lines = 80;

}  // namespace troupe::actors::cri_defaults
