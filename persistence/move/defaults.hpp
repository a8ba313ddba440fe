// Bounds of the parts in which a state is copied.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::persistence::defaults {

// The part read from a source. A log takes less at once: log_transaction_limit and log_part_bytes.
inline constexpr std::size_t part_bytes = 4u << 20;
// etcd's default limit of a request is 1.5 MiB.
inline constexpr std::size_t log_part_bytes = 1u << 20;
// The period of looks at what control planes renew.
inline constexpr std::chrono::milliseconds live_server_poll{100};

}  // namespace troupe::persistence::defaults
