#include "api/object/pod_resources.hpp"

#include <algorithm>

namespace troupe::api {
namespace {

using core::v1::Container;
using core::v1::ContainerStatus;
using core::v1::Pod;
using core::v1::PodSpec;

resource_list requests_of(const Container& container) {
  return read_resource_list(container.resources().requests());
}
resource_list limits_of(const Container& container) {
  return read_resource_list(container.resources().limits());
}

// Sets each amount to the larger of the two.
void raise_to(resource_list& to, const resource_list& other) {
  for (const auto& [name, amount] : other) {
    const auto [found, added] = to.try_emplace(name, amount);
    if (!added) found->second = std::max(found->second, amount);
  }
}

template <class Amounts>
resource_list sum(const PodSpec& spec, Amounts amounts) {
  resource_list total, sidecars, largest_init;
  for (const auto& container : spec.containers())
    add_to(total, amounts(container));
  // Init containers run one after the other, except sidecars, which keep running.
  for (const auto& container : spec.init_containers()) {
    auto own = amounts(container);
    if (container.restart_policy() == "Always") {
      add_to(total, own);
      add_to(sidecars, own);
      raise_to(largest_init, sidecars);
    } else {
      add_to(own, sidecars);
      raise_to(largest_init, own);
    }
  }
  raise_to(total, largest_init);
  return total;
}

// Null if there is no status of the container.
const ContainerStatus* status_of(const Pod& pod, const Container& container) {
  for (const auto* all :
       {&pod.status().container_statuses(), &pod.status().init_container_statuses()})
    for (const auto& status : *all)
      if (status.name() == container.name()) return &status;
  return nullptr;
}

// The overhead counts only for resources with a limit.
resource_list with_overhead(resource_list limits, const PodSpec& spec) {
  for (const auto& [name, amount] : read_resource_list(spec.overhead()))
    if (const auto found = limits.find(name); found != limits.end()) found->second += amount;
  return limits;
}

std::optional<quantity> amount(const quantity_messages& of, const char* name) {
  const auto found = of.find(name);
  if (found == of.end()) return std::nullopt;
  const auto parsed = quantity::parse(found->second.string());
  return parsed && parsed->sign() > 0 ? parsed : std::nullopt;
}

struct totals {
  bool any = false;      // some container has a request or limit
  bool complete = true;  // every container has both limits, and requests equal to them
};

void add(totals& sum, const Container& container) {
  for (const char* name : {"cpu", "memory"}) {
    const auto request = amount(container.resources().requests(), name);
    const auto limit = amount(container.resources().limits(), name);
    if (request || limit) sum.any = true;
    // An absent request equals the limit: defaults may not have been set yet.
    if (!limit || (request && *request != *limit)) sum.complete = false;
  }
}

}  // namespace

resource_list read_resource_list(const quantity_messages& from) {
  resource_list result;
  for (const auto& [name, text] : from)
    if (const auto amount = quantity::parse(text.string())) result.emplace(name, *amount);
  return result;
}

void write_resource_list(const resource_list& from, quantity_messages& into) {
  into.clear();
  for (const auto& [name, amount] : from)
    into[name].set_string(amount.str());
}

void add_to(resource_list& to, const resource_list& other) {
  for (const auto& [name, amount] : other)
    to[name] += amount;
}

resource_list pod_requests(const PodSpec& spec) {
  auto total = sum(spec, requests_of);
  add_to(total, read_resource_list(spec.overhead()));
  return total;
}

resource_list pod_limits(const PodSpec& spec) {
  return with_overhead(sum(spec, limits_of), spec);
}

resource_list held_requests(const Pod& pod) {
  auto total = sum(pod.spec(), [&](const Container& container) {
    auto own = requests_of(container);
    if (const auto* status = status_of(pod, container)) {
      raise_to(own, read_resource_list(status->allocated_resources()));
      raise_to(own, read_resource_list(status->resources().requests()));
    }
    return own;
  });
  add_to(total, read_resource_list(pod.spec().overhead()));
  return total;
}

resource_list held_limits(const Pod& pod) {
  auto total = sum(pod.spec(), [&](const Container& container) {
    auto own = limits_of(container);
    if (const auto* status = status_of(pod, container))
      raise_to(own, read_resource_list(status->resources().limits()));
    return own;
  });
  return with_overhead(std::move(total), pod.spec());
}

std::string_view qos_class(const PodSpec& spec) {
  totals sum;
  for (const auto& container : spec.init_containers())
    add(sum, container);
  for (const auto& container : spec.containers())
    add(sum, container);
  if (!sum.any) return "BestEffort";
  return sum.complete ? "Guaranteed" : "Burstable";
}

}  // namespace troupe::api
