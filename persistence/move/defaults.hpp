// Bounds of what is copied at once.
#pragma once

#include <cstddef>

namespace troupe::persistence::defaults {

// Of a source. A log is given less at once: log_transaction_limit keys, and log_part_bytes.
inline constexpr std::size_t part_bytes = 4u << 20;
// etcd takes 1.5 MiB in a request when nobody says more.
inline constexpr std::size_t log_part_bytes = 1u << 20;

}  // namespace troupe::persistence::defaults
