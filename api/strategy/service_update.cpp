#include "api/strategy/service_update.hpp"

#include <algorithm>

#include "api/schema/core_service.pb.h"

namespace troupe::api {
namespace {

using core::v1::Service;
using core::v1::ServiceSpec;

// Whether it is reachable from outside the cluster.
bool is_external(const ServiceSpec& spec) {
  return spec.type() == "NodePort" || spec.type() == "LoadBalancer";
}

template <class List>
bool same_list(const List& a, const List& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// For clients that write only the older one of the two fields.
void follow_cluster_ip(ServiceSpec& spec, const ServiceSpec& before) {
  if (spec.cluster_ip() == before.cluster_ip()) {
    if (spec.cluster_ips().empty()) *spec.mutable_cluster_ips() = before.cluster_ips();
  } else if (same_list(spec.cluster_ips(), before.cluster_ips())) {
    spec.clear_cluster_ips();
    if (!spec.cluster_ip().empty()) spec.add_cluster_ips(spec.cluster_ip());
  }
}

// Removes each field that is unchanged.
void drop_address(ServiceSpec& spec, const ServiceSpec& before) {
  if (spec.cluster_ip() == before.cluster_ip() &&
      same_list(spec.cluster_ips(), before.cluster_ips())) {
    spec.clear_cluster_ip();
    spec.clear_cluster_ips();
  }
  if (same_list(spec.ip_families(), before.ip_families())) spec.clear_ip_families();
  if (spec.ip_family_policy() == before.ip_family_policy()) spec.clear_ip_family_policy();
}

// As drop_address, for the fields that only load balancers have.
void drop_balancing(ServiceSpec& spec, const ServiceSpec& before) {
  if (spec.allocate_load_balancer_node_ports() == before.allocate_load_balancer_node_ports())
    spec.clear_allocate_load_balancer_node_ports();
  if (spec.load_balancer_class() == before.load_balancer_class()) spec.clear_load_balancer_class();
  if (spec.health_check_node_port() == before.health_check_node_port())
    spec.clear_health_check_node_port();
}

}  // namespace

bool has_node_ports(const ServiceSpec& spec) {
  return spec.type() == "NodePort" ||
         (spec.type() == "LoadBalancer" && (!spec.has_allocate_load_balancer_node_ports() ||
                                            spec.allocate_load_balancer_node_ports()));
}

void keep_allocations(Service& now, const Service& was) {
  auto& spec = *now.mutable_spec();
  const auto& before = was.spec();
  const bool has_address = spec.type() != "ExternalName" && before.type() != "ExternalName";
  if (has_address && spec.cluster_ip().empty() && before.has_cluster_ip())
    spec.set_cluster_ip(before.cluster_ip());
  follow_cluster_ip(spec, before);
  if (!has_address) return;
  if (spec.type() != before.type()) return;
  for (auto& port : *spec.mutable_ports()) {
    if (port.node_port() != 0) continue;
    for (const auto& old : before.ports())
      if (old.node_port() != 0 && old.port() == port.port() && old.protocol() == port.protocol())
        port.set_node_port(old.node_port());
  }
}

void drop_leftovers(Service& now, const Service& was) {
  auto& spec = *now.mutable_spec();
  const auto& before = was.spec();
  if (spec.type() == "ExternalName" && before.type() != "ExternalName") drop_address(spec, before);
  if (!is_external(spec) && is_external(before) &&
      spec.external_traffic_policy() == before.external_traffic_policy())
    spec.clear_external_traffic_policy();
  if (spec.type() != "LoadBalancer" && before.type() == "LoadBalancer")
    drop_balancing(spec, before);
  if (has_node_ports(spec) || !has_node_ports(before)) return;
  for (auto& port : *spec.mutable_ports())
    for (const auto& old : before.ports())
      if (port.node_port() == old.node_port()) port.clear_node_port();
}

}  // namespace troupe::api
