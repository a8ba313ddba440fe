#pragma once

#include <cstdint>

namespace troupe::actors::disruption::defaults {

// An eviction that was allowed and whose pod is not being deleted so long after it did not happen
// (kubernetes: pkg/controller/disruption, DeletionTimeout).
inline constexpr std::int64_t eviction_seconds = 120;

}  // namespace troupe::actors::disruption::defaults
