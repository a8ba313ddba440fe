// Whether a pod is ready and available. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "actors/core/condition.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// As its condition says.
inline bool is_ready(const api::core::v1::Pod& pod) {
  const auto* ready = find_condition(pod.status().conditions(), "Ready");
  return ready != nullptr && ready->status() == "True";
}

// Seconds until a ready pod has been ready for `min_ready_seconds`, 0 when it is available; nothing
// for one that is not ready (kubernetes: podutil.IsPodAvailable). `now` in seconds of the epoch.
inline std::optional<std::int64_t> available_in(const api::core::v1::Pod& pod,
                                                std::int32_t min_ready_seconds, std::int64_t now) {
  const auto* ready = find_condition(pod.status().conditions(), "Ready");
  if (ready == nullptr || ready->status() != "True") return std::nullopt;
  if (min_ready_seconds <= 0) return 0;
  const auto since = ready->last_transition_time().seconds();
  return std::max<std::int64_t>(since + min_ready_seconds - now, 0);
}

}  // namespace troupe::actors
