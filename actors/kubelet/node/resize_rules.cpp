#include "actors/kubelet/node/resize_rules.hpp"

#include <fmt/format.h>

#include "actors/kubelet/node/admission.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

namespace {

using api::core::v1::Pod;

// Returns the resource of which `wants` has more than the node's capacity, ignoring other pods.
std::optional<std::string> over_capacity(const scheduler::resources& wants,
                                         const scheduler::resources& has) {
  const auto text = [](const char* resource, std::int64_t wanted, std::int64_t capacity) {
    return fmt::format("Node didn't have enough capacity: {}, requested: {}, capacity: {}",
                       resource, wanted, capacity);
  };
  if (wants.memory > has.memory) return text("memory", wants.memory, has.memory);
  if (wants.milli_cpu > has.milli_cpu) return text("cpu", wants.milli_cpu, has.milli_cpu);
  return std::nullopt;
}

}  // namespace

scheduler::resources requests_with(const Pod& pod, const container_resources& resources) {
  Pod changed;
  *changed.mutable_spec() = pod.spec();
  set_resources(changed, resources);
  return scheduler::pod_requests(changed);
}

std::optional<pending_resize> evaluate_resize(const Pod& pod, const scheduler::node_info& others,
                                              std::string_view runtime_problem) {
  const auto generation = pod.metadata().generation();
  if (!runtime_problem.empty())
    return pending_resize{"Infeasible",
                          fmt::format("In-place resize is not supported here: {}", runtime_problem),
                          generation};
  const auto wants = requests_with(pod, desired_resources(pod));
  if (auto problem = over_capacity(wants, others.allocatable()))
    return pending_resize{"Infeasible", std::move(*problem), generation};
  if (auto missing = missing_resource(wants, others))
    return pending_resize{"Deferred", std::move(missing->message), generation};
  return std::nullopt;
}

}  // namespace troupe::actors
