#include "actors/controllers/load_balancers/balancer_plan.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "actors/controllers/endpoints/service_pods.hpp"
#include "actors/core/condition.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/values/cidr.hpp"

namespace troupe::actors::load_balancers {
namespace {

using api::core::v1::Node;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;

// kubernetes: well-known labels.
constexpr const char* excluded_label = "node.kubernetes.io/exclude-from-external-load-balancers";

bool is_older(const api::object& a, const api::object& b) {
  const auto key = [](const api::object& of) {
    return std::tuple{of.meta().creation_timestamp().seconds(), of.meta().namespace_(),
                      of.meta().name()};
  };
  return key(a) < key(b);
}

bool share_a_port(const Service& a, const Service& b) {
  return std::any_of(a.spec().ports().begin(), a.spec().ports().end(), [&](const auto& port) {
    return std::any_of(b.spec().ports().begin(), b.spec().ports().end(), [&](const auto& other) {
      return port.port() == other.port() && port.protocol() == other.protocol();
    });
  });
}

std::set<std::string> nodes_with_endpoints(const std::vector<api::object_ptr>& slices) {
  std::set<std::string> out;
  for (const auto& slice : slices)
    for (const auto& endpoint : slice->as<EndpointSlice>().endpoints())
      if (!endpoint.conditions().has_ready() || endpoint.conditions().ready())
        out.insert(endpoint.node_name());
  return out;
}

bool may_serve(const api::object& node) {
  return is_condition_true(node.as<Node>().status().conditions(), "Ready") &&
         !node.meta().has_deletion_timestamp() && !node.meta().labels().contains(excluded_label);
}

// The node's first address of this type and IP family; empty: none.
std::string address_of(const api::object& node, std::string_view type, std::string_view family) {
  for (const auto& address : node.as<Node>().status().addresses())
    if (address.type() == type && api::ip_family(address.address()) == family)
      return address.address();
  return {};
}

std::vector<std::string> addresses_of(const std::vector<api::object_ptr>& nodes,
                                      std::string_view family) {
  std::set<std::string> internal, external;
  for (const auto& node : nodes) {
    internal.insert(address_of(*node, "InternalIP", family));
    external.insert(address_of(*node, "ExternalIP", family));
  }
  internal.erase(std::string{});
  external.erase(std::string{});
  const auto& chosen = external.empty() ? internal : external;
  return {chosen.begin(), chosen.end()};
}

}  // namespace

bool is_balanced(const Service& service) {
  return service.spec().type() == "LoadBalancer" &&
         service.spec().load_balancer_class() == balancer_class &&
         !service.metadata().has_deletion_timestamp();
}

balancer_plan plan_addresses(const api::object& service,
                             const std::vector<api::object_ptr>& services,
                             const std::vector<api::object_ptr>& nodes,
                             const std::vector<api::object_ptr>& slices) {
  const auto& body = service.as<Service>();
  balancer_plan plan;
  if (!is_balanced(body)) return plan;
  if (!body.spec().load_balancer_source_ranges().empty()) {
    plan.problem = "nodes do not restrict who connects: loadBalancerSourceRanges must be empty";
    return plan;
  }
  for (const auto& other : services) {
    if (other->meta().uid() == service.meta().uid() || !is_balanced(other->as<Service>()) ||
        !is_older(*other, service) || !share_a_port(body, other->as<Service>()))
      continue;
    plan.problem = "a port of it is taken on the nodes by service " + other->meta().namespace_() +
                   "/" + other->meta().name();
    return plan;
  }
  const bool local = body.spec().external_traffic_policy() == "Local";
  const auto with_endpoints = nodes_with_endpoints(slices);
  std::vector<api::object_ptr> serving;
  for (const auto& node : nodes)
    if (may_serve(*node) && (!local || with_endpoints.contains(node->meta().name())))
      serving.push_back(node);
  const auto families = endpoints::families_of(body);
  for (const auto& family : families) {
    auto found = addresses_of(serving, family);
    found.resize(std::min(found.size(), most_addresses / families.size()));
    plan.addresses.insert(plan.addresses.end(), found.begin(), found.end());
  }
  if (serving.empty())
    plan.problem = local ? "no ready node has an endpoint of it" : "no node is ready";
  else if (plan.addresses.empty())
    plan.problem = "no ready node has an address of its IP families";
  return plan;
}

}  // namespace troupe::actors::load_balancers
