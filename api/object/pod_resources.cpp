#include "api/object/pod_resources.hpp"

#include <algorithm>

namespace troupe::api {
namespace {

using core::v1::Container;
using core::v1::PodSpec;

using amounts_of = const quantity_messages& (*)(const Container&);

const quantity_messages& requests_of(const Container& container) {
  return container.resources().requests();
}
const quantity_messages& limits_of(const Container& container) {
  return container.resources().limits();
}

// Each amount becomes the larger of the two.
void raise_to(resource_list& to, const resource_list& other) {
  for (const auto& [name, amount] : other) {
    const auto [found, added] = to.try_emplace(name, amount);
    if (!added) found->second = std::max(found->second, amount);
  }
}

resource_list sum(const PodSpec& spec, amounts_of amounts) {
  resource_list total, sidecars, largest_init;
  for (const auto& container : spec.containers())
    add_to(total, read_resource_list(amounts(container)));
  // Init containers run one after the other, except those that stay (sidecars).
  for (const auto& container : spec.init_containers()) {
    auto own = read_resource_list(amounts(container));
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
  auto total = sum(spec, limits_of);
  for (const auto& [name, amount] : read_resource_list(spec.overhead()))
    if (const auto found = total.find(name); found != total.end()) found->second += amount;
  return total;
}

}  // namespace troupe::api
