// The constants of aggregated APIs and their sources. "upstream" is Kubernetes 1.33's
// kube-aggregator.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::server::defaults {

using namespace std::chrono_literals;

// Our own: APIServices with a service; more of them are not served.
inline constexpr std::size_t aggregated_apis = 64;
// upstream: remote_available_controller.go; for one request, for all attempts, and their number.
inline constexpr std::chrono::nanoseconds api_check_timeout = 5s;
inline constexpr std::chrono::nanoseconds api_check_limit = 6s;
inline constexpr int api_check_attempts = 5;
// upstream: resync and back-off of the controller; its back-off starts at 5 ms, ours
// later.
inline constexpr std::chrono::nanoseconds api_check_period = 30s;
inline constexpr std::chrono::nanoseconds api_check_first_retry = 100ms;
// Our own: the delay until a condition that could not be written is checked again.
inline constexpr std::chrono::nanoseconds api_write_retry = 1s;
// Our own: the size of one version's resource list; that of apps/v1 has 4 KB.
inline constexpr std::size_t resource_list_bytes = 1u << 20;
// upstream: openapi/aggregator asks each minute. Our own: the document of one server; what is kept
// of it is less (api/discovery/limits.hpp).
inline constexpr std::chrono::nanoseconds openapi_period = 60s;
inline constexpr std::size_t openapi_bytes = 4u << 20;
// upstream: podautoscaler/metrics has no time-out of its own; an autoscaler here waits 5 s.
inline constexpr std::chrono::nanoseconds metrics_timeout = 4s;
// Our own: the response to one query of an autoscaler; a pod takes some 300 bytes.
inline constexpr std::size_t metrics_bytes = 4u << 20;
// Our own: concurrent queries of autoscalers; others are repeated after 15 s.
inline constexpr std::size_t metric_requests = 64;
// Our own: the part of a server's error message kept in an autoscaler's status.
inline constexpr std::size_t metric_message_bytes = 512;

}  // namespace troupe::server::defaults
