// How the API of 2014 behaved, in numbers. "upstream" is Kubernetes v0.2 to v0.6,
// pkg/apiserver.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::server::legacy::defaults {

using namespace std::chrono_literals;

// upstream: asyncOpWait. A write that is not done by then becomes an operation.
inline constexpr std::chrono::nanoseconds async_wait = 25ms;
// upstream: parseTimeout. With sync=true and no timeout, or one that cannot be read.
inline constexpr std::chrono::nanoseconds sync_wait = 30s;
// The longest that anybody waits: below the time-out of the transport.
inline constexpr std::chrono::nanoseconds longest_wait = 50s;

// upstream: operation.go. Results are kept so long, and looked through so often.
inline constexpr std::chrono::nanoseconds operation_life = 10min;
inline constexpr std::chrono::nanoseconds sweep_period = 5min;
// Operations in memory; beyond it the oldest results go early, and while so many are under way
// further writes are refused with 429.
inline constexpr std::size_t operations_kept = 10'000;

// upstream: pkg/util, DNS952MaxLength.
inline constexpr std::size_t service_id_size = 24;

inline constexpr const char* prefix = "/api/v1beta1";
// Objects without a namespace live here.
inline constexpr const char* ns = "default";

}  // namespace troupe::server::legacy::defaults
