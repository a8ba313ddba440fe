// Whether a pod is ready, available or terminated. Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "actors/core/condition.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// True if the condition Ready is "True".
inline bool is_ready(const api::core::v1::Pod& pod) {
  return is_condition_true(pod.status().conditions(), "Ready");
}

// True if its phase is final.
inline bool is_terminated(const api::core::v1::Pod& pod) {
  return pod.status().phase() == "Succeeded" || pod.status().phase() == "Failed";
}

// Seconds until a ready pod has been ready for `min_ready_seconds`; 0: available,
// nothing: not ready (kubernetes: podutil.IsPodAvailable). `now`: seconds since the
// epoch.
inline std::optional<std::int64_t> available_in(const api::core::v1::Pod& pod,
                                                std::int32_t min_ready_seconds, std::int64_t now) {
  if (!is_ready(pod)) return std::nullopt;
  if (min_ready_seconds <= 0) return 0;
  const auto since =
      find_condition(pod.status().conditions(), "Ready")->last_transition_time().seconds();
  return std::max<std::int64_t>(since + min_ready_seconds - now, 0);
}

}  // namespace troupe::actors
