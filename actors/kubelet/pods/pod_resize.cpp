#include "actors/kubelet/pods/pod_resize.hpp"

#include <algorithm>

#include "actors/core/condition.hpp"
#include "api/object/pod_resources.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

namespace {

using api::core::v1::Container;
using api::core::v1::ContainerStatus;
using api::core::v1::Pod;
using api::core::v1::PodStatus;
using api::core::v1::ResourceRequirements;

constexpr std::string_view pending_type = "PodResizePending";
constexpr std::string_view progress_type = "PodResizeInProgress";

template <class PodType, class Visit>
void for_each_resizable(PodType& spec, Visit visit) {
  if constexpr (std::is_const_v<PodType>) {
    for (const auto& container : spec.init_containers())
      if (container.restart_policy() == "Always") visit(container);
    for (const auto& container : spec.containers())
      visit(container);
  } else {
    for (auto& container : *spec.mutable_init_containers())
      if (container.restart_policy() == "Always") visit(container);
    for (auto& container : *spec.mutable_containers())
      visit(container);
  }
}

template <class Status>
auto* find_status(Status& status, const std::string& container) {
  for (auto* all : {&status.container_statuses(), &status.init_container_statuses()})
    for (auto& each : *all)
      if (each.name() == container) return &each;
  return static_cast<const ContainerStatus*>(nullptr);
}

bool same_list(const api::quantity_messages& a, const api::quantity_messages& b) {
  return api::read_resource_list(a) == api::read_resource_list(b);
}

// Null if the status has no resources of the container.
const ContainerStatus* recorded(const Pod& pod, const std::string& container) {
  const auto* found = find_status(pod.status(), container);
  return found != nullptr && found->has_resources() ? found : nullptr;
}

void write_amounts(const container_record& record, const ResourceRequirements& allocated,
                   ContainerStatus& status) {
  *status.mutable_allocated_resources() = allocated.requests();
  *status.mutable_resources() =
      record.phase == container_phase::running && record.resources ? *record.resources : allocated;
}

void set_or_clear(PodStatus& status, bool holds, const condition_value& value,
                  std::int64_t generation, runtime::wall_time now) {
  auto& conditions = *status.mutable_conditions();
  if (holds) {
    set_condition(conditions, value, now);
    find_condition(conditions, value.type)->set_observed_generation(generation);
    return;
  }
  conditions.erase(std::remove_if(conditions.begin(), conditions.end(),
                                  [&](const auto& each) { return each.type() == value.type; }),
                   conditions.end());
}

}  // namespace

container_resources desired_resources(const Pod& pod) {
  container_resources all;
  for_each_resizable(pod.spec(), [&](const Container& container) {
    all[container.name()] = container.resources();
  });
  return all;
}

pod_allocation recorded_allocation(const Pod& pod) {
  pod_allocation out{.resources = desired_resources(pod),
                     .generation = pod.metadata().generation()};
  if (const auto* pending = find_condition(pod.status().conditions(), pending_type))
    out.pending = {pending->reason(), pending->message(), pending->observed_generation()};
  for (auto& [name, resources] : out.resources) {
    const auto* status = recorded(pod, name);
    if (status == nullptr) continue;
    const bool requests_differ = !same_list(resources.requests(), status->allocated_resources());
    if (requests_differ || out.pending) *resources.mutable_limits() = status->resources().limits();
    *resources.mutable_requests() = status->allocated_resources();
  }
  return out;
}

container_resources recorded_resources(const Pod& pod) {
  auto all = desired_resources(pod);
  for (auto& [name, resources] : all)
    if (const auto* status = recorded(pod, name)) resources = status->resources();
  return all;
}

bool same_amounts(const ResourceRequirements& a, const ResourceRequirements& b) {
  return same_list(a.requests(), b.requests()) && same_list(a.limits(), b.limits());
}

bool same_amounts(const container_resources& a, const container_resources& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && same_amounts(x.second, y.second);
  });
}

void set_resources(Pod& pod, const container_resources& resources) {
  for_each_resizable(*pod.mutable_spec(), [&](Container& container) {
    const auto found = resources.find(container.name());
    if (found != resources.end()) *container.mutable_resources() = found->second;
  });
}

api::object_ptr with_resources(const api::object_ptr& pod, const container_resources& resources) {
  bool same = true;
  for_each_resizable(pod->as<Pod>().spec(), [&](const Container& container) {
    const auto found = resources.find(container.name());
    same &= found == resources.end() || same_amounts(found->second, container.resources());
  });
  if (same) return pod;
  auto changed = pod->copy_as<Pod>();
  set_resources(*changed, resources);
  return std::make_shared<const api::object>(pod->kind(), std::move(changed), pod->revision());
}

bool restarts_for(const Container& container, const ResourceRequirements& from,
                  const ResourceRequirements& to) {
  const auto amount = [](const api::quantity_messages& of, const std::string& name) {
    const auto all = api::read_resource_list(of);
    const auto found = all.find(name);
    return found == all.end() ? std::optional<api::quantity>{} : found->second;
  };
  const auto& policies = container.resize_policy();
  return std::any_of(policies.begin(), policies.end(), [&](const auto& policy) {
    const auto& name = policy.resource_name();
    return policy.restart_policy() == "RestartContainer" &&
           (amount(from.requests(), name) != amount(to.requests(), name) ||
            amount(from.limits(), name) != amount(to.limits(), name));
  });
}

bool is_recorded(const pod_allocation& allocation, const PodStatus& status) {
  const auto* condition = find_condition(status.conditions(), progress_type);
  return condition != nullptr && condition->observed_generation() == allocation.generation;
}

bool was_in_progress(const PodStatus& status) {
  return find_condition(status.conditions(), progress_type) != nullptr;
}

void describe_resize(const resize_progress& progress,
                     const std::vector<container_record>& containers, runtime::wall_time now,
                     PodStatus& status) {
  const auto& allocation = progress.allocation;
  for (const auto& record : containers) {
    const auto found = allocation.resources.find(record.name);
    if (found == allocation.resources.end()) continue;
    for (auto* all :
         {status.mutable_container_statuses(), status.mutable_init_container_statuses()})
      for (auto& each : *all)
        if (each.name() == record.name) write_amounts(record, found->second, each);
  }
  const bool over = finished(status);
  const auto pending = allocation.pending.value_or(pending_resize{});
  set_or_clear(status, allocation.pending && !over,
               {pending_type, "True", pending.reason, pending.message}, pending.generation, now);
  set_or_clear(
      status, progress.under_way && !over,
      {progress_type, "True",
       progress.error.empty() ? std::string_view{} : std::string_view{"Error"}, progress.error},
      allocation.generation, now);
}

}  // namespace troupe::actors
