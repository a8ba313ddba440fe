// The constants of aggregated APIs and where they come from. "upstream" is Kubernetes 1.33's
// kube-aggregator.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::server::defaults {

using namespace std::chrono_literals;

// Our own: APIServices that name a service; those beyond are not served.
inline constexpr std::size_t aggregated_apis = 64;
// upstream: remote_available_controller.go, of one request, of all attempts, and their number.
inline constexpr std::chrono::nanoseconds api_check_timeout = 5s;
inline constexpr std::chrono::nanoseconds api_check_limit = 6s;
inline constexpr int api_check_attempts = 5;
// upstream: resync of the controller, and its back-off; its first step is 5 ms, of which we save
// the first few.
inline constexpr std::chrono::nanoseconds api_check_period = 30s;
inline constexpr std::chrono::nanoseconds api_check_first_retry = 100ms;
// Our own: a condition that could not be written is looked at again.
inline constexpr std::chrono::nanoseconds api_write_retry = 1s;
// Our own: the list of the resources of one version; that of apps/v1 has 4 KB.
inline constexpr std::size_t resource_list_bytes = 1u << 20;
// upstream: openapi/aggregator asks each minute. Our own: the document of one server; what is kept
// of it is less (api/discovery/limits.hpp).
inline constexpr std::chrono::nanoseconds openapi_period = 60s;
inline constexpr std::size_t openapi_bytes = 4u << 20;
// upstream: podautoscaler/metrics has no time-out of its own; an autoscaler here waits 5 s.
inline constexpr std::chrono::nanoseconds metrics_timeout = 4s;
// Our own: the figures that answer one question of an autoscaler; a pod takes some 300 bytes.
inline constexpr std::size_t metrics_bytes = 4u << 20;
// Our own: questions of autoscalers that are under way; those beyond are asked again in 15 s.
inline constexpr std::size_t metric_requests = 64;
// Our own: what a status of an autoscaler keeps of a server's words.
inline constexpr std::size_t metric_message_bytes = 512;

}  // namespace troupe::server::defaults
