#include "actors/controllers/load_balancers/balancer_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "actors/controllers/endpoints/service_pods.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/labels.hpp"
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

bool is_load_balancer(const Service& service) {
  return service.spec().type() == "LoadBalancer";
}

bool has_node_class(const Service& service) {
  return service.spec().load_balancer_class() == balancer_class;
}

std::string text_of(const std::vector<std::string>& addresses) {
  return fmt::format("{}", fmt::join(addresses, ", "));
}

// True if the addresses in the status are those that nodes gave last.
bool has_own_addresses(const Service& service) {
  const auto* given = find_condition(service.status().conditions(), addresses_condition);
  std::vector<std::string> now;
  for (const auto& each : service.status().load_balancer().ingress())
    now.push_back(each.ip());
  return given != nullptr && given->message() == text_of(now);
}

bool has_foreign_addresses(const Service& service) {
  return !service.status().load_balancer().ingress().empty() && !has_own_addresses(service);
}

// 0 if there is none.
std::int32_t reserved_port_of(const Service& service, const balancer_rules& rules) {
  for (const auto& each : service.spec().ports())
    if (std::count(rules.reserved_ports.begin(), rules.reserved_ports.end(), each.port()) > 0)
      return each.port();
  return 0;
}

// Why no node serves it, whatever else there is; empty if nodes can.
std::string refusal_of(const Service& service, const balancer_rules& rules) {
  if (!service.spec().load_balancer_source_ranges().empty())
    return "nodes do not restrict who connects: loadBalancerSourceRanges must be empty";
  if (const auto port = reserved_port_of(service, rules); port != 0)
    return fmt::format("port {} is reserved for programs of the machines (network.reservedPorts)",
                       port);
  return {};
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
         !node.meta().has_deletion_timestamp() && !node.meta().labels().contains(excluded_label) &&
         !node.meta().labels().contains(no_service_rules);
}

// The node's first address of this type and IP family that others can reach; empty: none.
std::string address_of(const api::object& node, std::string_view type, std::string_view family) {
  for (const auto& address : node.as<Node>().status().addresses())
    if (address.type() == type && api::ip_family(address.address()) == family &&
        !api::is_loopback_ip(address.address()))
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

bool may_be_balanced(const Service& service) {
  return is_load_balancer(service) && !service.metadata().has_deletion_timestamp() &&
         (has_node_class(service) || service.spec().load_balancer_class().empty());
}

bool is_balanced(const Service& service, const balancer_rules& rules) {
  return may_be_balanced(service) &&
         (has_node_class(service) || (rules.default_class && !has_foreign_addresses(service)));
}

balancer_plan plan_addresses(const api::object& service,
                             const std::vector<api::object_ptr>& services,
                             const std::vector<api::object_ptr>& nodes,
                             const std::vector<api::object_ptr>& slices,
                             const balancer_rules& rules) {
  const auto& body = service.as<Service>();
  balancer_plan plan;
  if (!is_balanced(body, rules)) return plan;
  plan.problem = refusal_of(body, rules);
  if (!plan.problem.empty()) return plan;
  for (const auto& other : services) {
    const auto& of_other = other->as<Service>();
    if (other->meta().uid() == service.meta().uid() || !is_older(*other, service) ||
        !share_a_port(body, of_other) || !is_balanced(of_other, rules) ||
        !refusal_of(of_other, rules).empty())
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
    plan.problem =
        local ? "no ready node has an endpoint of it" : "no ready node has rules for Services";
  else if (plan.addresses.empty())
    plan.problem = "no ready node has an address of its IP families that others can reach";
  return plan;
}

bool has_traces(const Service& service) {
  return !service.status().load_balancer().ingress().empty() ||
         find_condition(service.status().conditions(), addresses_condition) != nullptr;
}

void write_addresses(Service& service, const std::vector<std::string>& addresses,
                     runtime::wall_time now) {
  // A Service that is no load balancer has no addresses, and one of the nodes' class no foreign
  // ones.
  const bool keeps_addresses =
      is_load_balancer(service) && !has_node_class(service) && has_foreign_addresses(service);
  auto& status = *service.mutable_status();
  if (!addresses.empty()) {
    status.mutable_load_balancer()->clear_ingress();
    for (const auto& address : addresses) {
      auto& ingress = *status.mutable_load_balancer()->add_ingress();
      ingress.set_ip(address);
      ingress.set_ip_mode("VIP");
    }
    set_condition(*status.mutable_conditions(),
                  {addresses_condition, "True", "GivenByNodes", text_of(addresses)}, now);
    return;
  }
  if (!keeps_addresses) status.clear_load_balancer();
  auto& conditions = *status.mutable_conditions();
  conditions.erase(
      std::remove_if(conditions.begin(), conditions.end(),
                     [](const auto& each) { return each.type() == addresses_condition; }),
      conditions.end());
}

}  // namespace troupe::actors::load_balancers
