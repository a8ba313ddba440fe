#pragma once

#include <cstdint>

namespace troupe::actors::disruption::defaults {

// An allowed eviction expires if its pod is not being deleted after this time (kubernetes:
// pkg/controller/disruption, DeletionTimeout).
inline constexpr std::int64_t eviction_seconds = 120;

}  // namespace troupe::actors::disruption::defaults
