#include "actors/scheduler/framework/resources.hpp"

#include <algorithm>

#include "api/schema/meta_object.pb.h"
#include "api/values/quantity.hpp"

namespace troupe::actors::scheduler {

namespace {

using api::core::v1::Container;
using api::core::v1::ContainerStatus;
using api::core::v1::Pod;

constexpr std::int64_t scoring_milli_cpu = 100;
constexpr std::int64_t scoring_memory = std::int64_t{200} << 20;

// The maximum request of a pod and capacity of a node: a sum of a thousand still fits 64 bits.
constexpr std::int64_t largest_amount = std::int64_t{1} << 53;

std::int64_t& slot(resources& in, const std::string& name) {
  auto at = std::lower_bound(in.extended.begin(), in.extended.end(), name,
                             [](const auto& entry, const auto& key) { return entry.first < key; });
  if (at == in.extended.end() || at->first != name) at = in.extended.insert(at, {name, 0});
  return at->second;
}

// Adds within the maximum, for a pod with any number of containers.
void add_within(resources& to, const resources& other) {
  to.add(other);
  for (auto* each : {&to.milli_cpu, &to.memory, &to.ephemeral})
    *each = std::min(*each, largest_amount);
  for (auto& [name, amount] : to.extended)
    amount = std::min(amount, largest_amount);
}

// The maximum of both for each resource.
void raise(resources& to, const resources& other) {
  to.milli_cpu = std::max(to.milli_cpu, other.milli_cpu);
  to.memory = std::max(to.memory, other.memory);
  to.ephemeral = std::max(to.ephemeral, other.ephemeral);
  for (const auto& [name, amount] : other.extended) {
    auto& mine = slot(to, name);
    mine = std::max(mine, amount);
  }
}

// A pod with an infeasible resize keeps its present resources.
bool resize_is_infeasible(const Pod& pod) {
  const auto& conditions = pod.status().conditions();
  return std::any_of(conditions.begin(), conditions.end(), [](const auto& each) {
    return each.type() == "PodResizePending" && each.reason() == "Infeasible";
  });
}

// Null if the status reports no resources: for most pods that are not running, and on nodes that
// cannot resize.
const ContainerStatus* resources_status(const Pod& pod, const Container& container) {
  for (const auto* all :
       {&pod.status().container_statuses(), &pod.status().init_container_statuses()})
    for (const auto& status : *all)
      if (status.has_resources() && status.name() == container.name()) return &status;
  return nullptr;
}

resources container_requests(const Pod& pod, const Container& container, bool for_scoring) {
  const auto& requests = container.resources().requests();
  auto result = read_resources(requests);
  if (const auto* status = resources_status(pod, container)) {
    if (resize_is_infeasible(pod)) result = {};
    raise(result, read_resources(status->allocated_resources()));
    raise(result, read_resources(status->resources().requests()));
  }
  if (for_scoring) {
    if (!requests.contains("cpu")) result.milli_cpu = scoring_milli_cpu;
    if (!requests.contains("memory")) result.memory = scoring_memory;
  }
  return result;
}

resources sum_requests(const Pod& pod, bool for_scoring) {
  const auto& spec = pod.spec();
  resources total;
  for (const auto& container : spec.containers())
    add_within(total, container_requests(pod, container, for_scoring));
  // Init containers run one after the other, except sidecars, which keep running.
  resources sidecars, largest_init;
  for (const auto& container : spec.init_containers()) {
    auto own = container_requests(pod, container, for_scoring);
    if (container.restart_policy() == "Always") {
      add_within(total, own);
      add_within(sidecars, own);
      own = sidecars;
    } else {
      add_within(own, sidecars);
    }
    raise(largest_init, own);
  }
  raise(total, largest_init);
  add_within(total, read_resources(spec.overhead()));
  total.pods = 1;
  return total;
}

}  // namespace

std::int64_t resources::extended_amount(const std::string& name) const {
  for (const auto& [known, amount] : extended)
    if (known == name) return amount;
  return 0;
}

void resources::add(const resources& other, std::int64_t sign) {
  milli_cpu += sign * other.milli_cpu;
  memory += sign * other.memory;
  ephemeral += sign * other.ephemeral;
  pods += sign * other.pods;
  for (const auto& [name, amount] : other.extended)
    slot(*this, name) += sign * amount;
}

resources read_resources(const resource_map& from) {
  resources result;
  for (const auto& [name, text] : from) {
    const auto amount = api::quantity::parse(text.string());
    if (!amount) continue;  // validation rejects these
    const auto units = std::clamp(amount->value(), -largest_amount, largest_amount);
    if (name == "cpu") {
      result.milli_cpu = std::clamp(amount->milli_value(), -largest_amount, largest_amount);
    } else if (name == "memory") {
      result.memory = units;
    } else if (name == "ephemeral-storage") {
      result.ephemeral = units;
    } else if (name == "pods") {
      result.pods = units;
    } else {
      slot(result, name) = units;
    }
  }
  return result;
}

resources pod_requests(const Pod& pod) {
  return sum_requests(pod, false);
}

// Most changes affect neither spec nor resources: nothing is summed up for them.
bool have_equal_requests(const Pod& a, const Pod& b) {
  const auto reports = [](const Pod& pod) {
    const auto& statuses = pod.status().container_statuses();
    return std::any_of(statuses.begin(), statuses.end(),
                       [](const auto& each) { return each.has_resources(); });
  };
  if (a.metadata().generation() == b.metadata().generation() && !reports(a) && !reports(b))
    return true;
  return pod_requests(a) == pod_requests(b);
}

resources pod_requests_for_scoring(const Pod& pod) {
  return sum_requests(pod, true);
}

}  // namespace troupe::actors::scheduler
