#include "actors/controllers/autoscaling/value_count.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "actors/core/pod_health.hpp"

namespace troupe::actors::autoscaling {
namespace {

std::int32_t rounded_up(double count) {
  return static_cast<std::int32_t>(
      std::clamp<double>(std::ceil(count), 0, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

result<std::int32_t> replicas_for_value(const measured_value& value, std::int32_t current,
                                        const std::vector<measured_pod>& pods) {
  const auto ratio = static_cast<double>(value.milli) / static_cast<double>(value.target_milli);
  if (current == 0) return rounded_up(ratio);
  if (value.tolerance.allow(ratio)) return current;
  if (pods.empty())
    return tl::make_unexpected(
        std::string{"unable to calculate ready pods: no pods returned by selector while "
                    "calculating replica count"});
  const auto ready = std::count_if(pods.begin(), pods.end(), [](const auto& each) {
    const auto& pod = each.object->template as<api::core::v1::Pod>();
    return pod.status().phase() == "Running" && is_ready(pod);
  });
  return rounded_up(ratio * static_cast<double>(ready));
}

replica_proposal replicas_for_share(const measured_value& value, std::int32_t current) {
  const auto milli = static_cast<double>(value.milli);
  const auto target = static_cast<double>(value.target_milli);
  replica_proposal proposal{.replicas = current};
  // Zero pods with a non-zero value must scale up.
  const auto ratio =
      current == 0 ? std::numeric_limits<double>::infinity() : milli / (target * current);
  if (!value.tolerance.allow(ratio)) proposal.replicas = rounded_up(milli / target);
  if (current > 0) proposal.average_milli = static_cast<std::int64_t>(std::ceil(milli / current));
  return proposal;
}

}  // namespace troupe::actors::autoscaling
