#include "actors/write/capacity.hpp"

#include <algorithm>

#include "actors/defaults.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/values/quantity.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::Node;
using api::core::v1::Pod;
using persistence::bound;

// The maximum of a node, so that twice the sum cannot overflow.
constexpr std::uint64_t most_node_pods = 1'000'000;

}  // namespace

std::uint64_t capacity::pods() const noexcept {
  return options_.pods > 0 ? options_.pods
                           : std::max(defaults::least_pod_capacity,
                                      defaults::pod_capacity_factor * node_pods_.load());
}

void capacity::limit(persistence::transaction& transaction) const {
  static const auto* pods_kind = &api::kind_of<Pod>();
  static const auto* nodes = &api::kind_of<Node>();
  static const auto* leases = &api::kind_of<api::coordination::v1::Lease>();
  static const auto prefix = pods_kind->prefix();
  bool makes_pods = false, makes_others = false;
  for (const auto& each : transaction.mutations) {
    if (each.content == nullptr) continue;
    makes_pods = makes_pods || each.kind == pods_kind;
    makes_others = makes_others || (each.kind != nodes && each.kind != leases);
  }
  // A creation has the precondition that its key is absent.
  const bool creates =
      std::any_of(transaction.preconditions.begin(), transaction.preconditions.end(),
                  [](const auto& each) { return each.at == 0; });
  if (!creates) return;
  if (makes_pods) transaction.bounds.push_back({bound::measure::objects, prefix, pods()});
  if (!makes_others) return;
  if (options_.objects > 0)
    transaction.bounds.push_back({bound::measure::objects, "/registry/", options_.objects});
  if (options_.bytes > 0) transaction.bounds.push_back({bound::measure::bytes, {}, options_.bytes});
}

std::uint64_t pod_capacity_of(const Node& node) {
  const auto& allocatable = node.status().allocatable();
  const auto found = allocatable.find("pods");
  if (found == allocatable.end()) return 0;
  const auto amount = api::quantity::parse(found->second.string());
  if (!amount) return 0;
  return std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(amount->value(), 0)),
                  most_node_pods);
}

std::uint64_t pod_capacity_of_nodes(const persistence::snapshot& state) {
  std::uint64_t sum = 0;
  state.scan(api::kind_of<Node>().prefix(), {}, [&](std::string_view, const api::object_ptr& node) {
    sum += pod_capacity_of(node->as<Node>());
    return true;
  });
  return sum;
}

}  // namespace troupe::actors
