// The number of pods for a resource metric, whose target is a share of the requests or an amount
// for each pod. Pods without metrics and pods that are not ready are counted so that they only
// reduce the change. Pure functions.
//
// kubernetes: pkg/controller/podautoscaler/replica_calculator.go, metrics/utilization.go.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "actors/core/metric_questions.hpp"
#include "api/object/object.hpp"

namespace troupe::actors::autoscaling {

// A value, or the message that says why there is none.
template <class T>
using result = tl::expected<T, std::string>;

struct container_usage {
  std::string container;
  std::uint64_t cpu_nano = 0, memory_bytes = 0;
};

// A pod that matches the target's selector, with its usage as its node measured it.
struct measured_pod {
  api::object_ptr object;
  std::vector<container_usage> usage = {};  // empty: it was not measured
  std::int64_t at = 0, window = 0;          // time and length of the measurement, seconds
};

// The tolerated deviations of the ratio of usage to target from 1.
struct tolerances {
  double down, up;
  bool allow(double ratio) const noexcept { return 1 - down <= ratio && ratio <= 1 + up; }
};

struct resource_metric {
  std::string resource;   // "cpu", "memory"
  std::string container;  // empty: all containers of a pod
  tolerances tolerance;
};

struct replica_proposal {
  std::int32_t replicas = 0;
  std::int32_t utilization = 0;    // percent of the requests; 0 for an amount
  std::int64_t average_milli = 0;  // of each pod
};

// `current`: the number of pods in the target's spec.
result<replica_proposal> replicas_for_utilization(const resource_metric& metric,
                                                  std::int32_t target_percent, std::int32_t current,
                                                  const std::vector<measured_pod>& pods,
                                                  std::int64_t now_seconds);
result<replica_proposal> replicas_for_average(const resource_metric& metric,
                                              std::int64_t target_milli, std::int32_t current,
                                              const std::vector<measured_pod>& pods,
                                              std::int64_t now_seconds);

// The same for values of pods that another server measured.
result<replica_proposal> replicas_for_pod_values(const std::vector<metric_value>& values,
                                                 const tolerances& tolerance,
                                                 std::int64_t target_milli, std::int32_t current,
                                                 const std::vector<measured_pod>& pods,
                                                 std::int64_t now_seconds);

}  // namespace troupe::actors::autoscaling
