// The constants of the API of 2014. "upstream" is Kubernetes v0.2 to v0.6,
// pkg/apiserver.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::server::legacy::defaults {

using namespace std::chrono_literals;

// upstream: asyncOpWait. A longer write becomes an operation.
inline constexpr std::chrono::nanoseconds async_wait = 25ms;
// upstream: parseTimeout. With sync=true and no valid timeout.
inline constexpr std::chrono::nanoseconds sync_wait = 30s;
// The longest wait of any request: shorter than the transport's time-out.
inline constexpr std::chrono::nanoseconds longest_wait = 50s;

// upstream: operation.go. How long results are kept, and how often expired ones are removed.
inline constexpr std::chrono::nanoseconds operation_lifetime = 10min;
inline constexpr std::chrono::nanoseconds sweep_period = 5min;
// Operations in memory; beyond it the oldest results are removed early. If all are under way,
// further writes get a 429.
inline constexpr std::size_t operations_kept = 10'000;

// upstream: pkg/util, DNS952MaxLength.
inline constexpr std::size_t service_id_size = 24;

inline constexpr const char* prefix = "/api/v1beta1";
// The namespace of objects without one.
inline constexpr const char* ns = "default";

}  // namespace troupe::server::legacy::defaults
