#include "actors/controllers/endpoints/topology_hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/core/condition.hpp"
#include "actors/core/labels.hpp"
#include "api/schema/core_node.pb.h"
#include "api/values/quantity.hpp"

namespace troupe::actors::endpoints {
namespace {

using api::core::v1::Node;
using api::core::v1::Service;
using api::discovery::v1::Endpoint;

// kubernetes: overloadThreshold. How far the load on a zone's endpoints may exceed their
// share.
constexpr double overload = 0.2;

struct allocation {
  int least = 0, most = 0;
  double desired = 0;
};
using allocations = std::map<std::string, allocation>;

// The error says why hints are not possible.
tl::expected<allocations, std::string> allocate(const zone_cpu& zones, int endpoints) {
  if (zones.size() < 2)
    return tl::make_unexpected(
        std::string{"Insufficient Node information: allocatable CPU or zone not specified on one "
                    "or more nodes"});
  const auto of = fmt::format(" ({} endpoints, {} zones)", endpoints, zones.size());
  if (static_cast<int>(zones.size()) > endpoints)
    return tl::make_unexpected("Insufficient number of endpoints" + of);
  double all = 0;
  for (const auto& [zone, cpu] : zones)
    all += static_cast<double>(cpu);
  allocations out;
  int left = endpoints;
  for (const auto& [zone, cpu] : zones) {
    const double desired = static_cast<double>(cpu) / all * endpoints;
    const int least = static_cast<int>(std::ceil(desired / (1 + overload)));
    out[zone] = {least, 0, std::max<double>(desired, least)};
    left -= least;
  }
  if (left < 0)
    return tl::make_unexpected(
        "Unable to allocate minimum required endpoints to each zone without exceeding overload "
        "threshold" +
        of);
  for (auto& [zone, each] : out)
    each.most = each.least + left;
  return out;
}

void hint(Endpoint& endpoint, const std::string& zone) {
  endpoint.mutable_hints()->clear_for_zones();
  endpoint.mutable_hints()->add_for_zones()->set_name(zone);
}

// Keeps the present hints if all endpoints have one and the allocation allows them.
bool keep_hints(const std::vector<Endpoint*>& ready, const allocations& wanted,
                const known_hints& before) {
  std::map<std::string, int> counts;
  for (const auto* each : ready) {
    const auto found = before.find(each->target_ref().uid());
    if (found == before.end() || !wanted.contains(found->second)) return false;
    ++counts[found->second];
  }
  for (const auto& [zone, each] : wanted)
    if (counts[zone] < each.least || counts[zone] > each.most) return false;
  for (auto* each : ready)
    hint(*each, before.at(each->target_ref().uid()));
  return true;
}

// The zone with the largest surplus or need.
std::map<std::string, double>::iterator most_of(std::map<std::string, double>& zones) {
  return std::max_element(zones.begin(), zones.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
}

struct transfer {
  std::map<std::string, int> giving, taking;  // endpoints by zone
};

transfer plan_transfer(const allocations& wanted, const std::map<std::string, int>& counts) {
  std::map<std::string, double> too_many, too_few;
  for (const auto& [zone, each] : wanted) {
    const auto found = counts.find(zone);
    const double more = (found == counts.end() ? 0 : found->second) - each.desired;
    if (more > 0) too_many[zone] = more;
    if (more < 0) too_few[zone] = -more;
  }
  transfer out;
  while (!too_many.empty() && !too_few.empty()) {
    auto& [from, surplus] = *most_of(too_many);
    auto& [to, need] = *most_of(too_few);
    // Half an endpoint is moved only if the other side is at least a whole one.
    if ((surplus < 1 && need < 1) || surplus < 0.5 || need < 0.5) break;
    ++out.giving[from];
    ++out.taking[to];
    --surplus;
    --need;
  }
  return out;
}

void distribute(const std::vector<Endpoint*>& ready, const allocations& wanted) {
  std::map<std::string, int> counts;
  for (auto* each : ready) {
    hint(*each, each->zone());
    ++counts[each->zone()];
  }
  auto plan = plan_transfer(wanted, counts);
  for (auto* each : ready) {
    const auto from = plan.giving.find(each->zone());
    if (from == plan.giving.end() || from->second == 0 || plan.taking.empty()) continue;
    const auto to = plan.taking.begin();
    hint(*each, to->first);
    --from->second;
    if (--to->second == 0) plan.taking.erase(to);
  }
}

}  // namespace

bool wants_topology_hints(const Service& service) {
  const auto& annotations = service.metadata().annotations();
  auto found = annotations.find("service.kubernetes.io/topology-mode");
  if (found == annotations.end())
    found = annotations.find("service.kubernetes.io/topology-aware-hints");
  return found != annotations.end() && (found->second == "Auto" || found->second == "auto");
}

zone_cpu cpu_of_zones(const std::vector<api::object_ptr>& nodes) {
  zone_cpu out;
  for (const auto& object : nodes) {
    const auto& labels = object->meta().labels();
    if (labels.contains("node-role.kubernetes.io/control-plane") ||
        labels.contains("node-role.kubernetes.io/master"))
      continue;
    const auto& status = object->as<Node>().status();
    if (!is_condition_true(status.conditions(), "Ready")) continue;
    const auto zone = zone_of(*object);
    const auto cpu = status.allocatable().find("cpu");
    const auto amount = cpu == status.allocatable().end()
                            ? std::nullopt
                            : api::quantity::parse(cpu->second.string());
    if (zone.empty() || !amount || amount->sign() <= 0) return {};
    out[zone] += amount->milli_value();
  }
  return out;
}

std::string set_topology_hints(const std::vector<Endpoint*>& endpoints, const zone_cpu& zones,
                               const known_hints& before) {
  std::vector<Endpoint*> ready;
  for (auto* each : endpoints) {
    each->clear_hints();
    if (each->conditions().ready()) ready.push_back(each);
  }
  const auto wanted = allocate(zones, static_cast<int>(ready.size()));
  if (!wanted) return wanted.error();
  if (std::any_of(ready.begin(), ready.end(),
                  [](const auto* each) { return each->zone().empty(); }))
    return "One or more endpoints do not have a zone specified";
  std::sort(ready.begin(), ready.end(), [](const Endpoint* a, const Endpoint* b) {
    return a->target_ref().uid() < b->target_ref().uid();
  });
  if (!keep_hints(ready, *wanted, before)) distribute(ready, *wanted);
  return {};
}

}  // namespace troupe::actors::endpoints
