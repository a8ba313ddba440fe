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
  if (spec.type() == "ExternalName" || was.spec().type() == "ExternalName") return;
  if (spec.cluster_ip().empty() && spec.cluster_ips().empty()) {
    if (was.spec().has_cluster_ip()) spec.set_cluster_ip(was.spec().cluster_ip());
    *spec.mutable_cluster_ips() = was.spec().cluster_ips();
  } else if (spec.cluster_ips().empty() && spec.cluster_ip() == was.spec().cluster_ip()) {
    // A client from before there were two.
    *spec.mutable_cluster_ips() = was.spec().cluster_ips();
  }
  if (spec.type() != was.spec().type()) return;
  for (auto& port : *spec.mutable_ports()) {
    if (port.node_port() != 0) continue;
    for (const auto& before : was.spec().ports())
      if (before.node_port() != 0 && before.port() == port.port() &&
          before.protocol() == port.protocol())
        port.set_node_port(before.node_port());
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
