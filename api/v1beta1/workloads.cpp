// Replication controllers and services.
#include "api/conversion/conversion.hpp"
#include "api/conversion/default_copy.hpp"
#include "api/schema/core_replication.pb.h"
#include "api/v1beta1/conversion.hpp"
#include "api/v1beta1/v1beta1.hpp"

namespace troupe::api::v1beta1 {
namespace {

using HubController = core::v1::ReplicationController;
using HubService = core::v1::Service;

void to_controller(const ReplicationController& from, HubController& to) {
  to_meta(from.meta(), *to.mutable_metadata());
  to_labels(from.labels(), *to.mutable_metadata()->mutable_labels());
  const auto& wanted = from.desired_state();
  auto& spec = *to.mutable_spec();
  // An absent count means none in 2014 and one today.
  spec.set_replicas(wanted.replicas());
  to_labels(wanted.replica_selector(), *spec.mutable_selector());
  const auto& pods = wanted.pod_template();
  auto& made = *spec.mutable_template_();
  to_labels(pods.labels(), *made.mutable_metadata()->mutable_labels());
  if (pods.labels().empty()) made.clear_metadata();
  to_spec(pods.desired_state(), pods.node_selector(), *made.mutable_spec());
  if (from.current_state().replicas() != 0)
    to.mutable_status()->set_replicas(from.current_state().replicas());
}

void from_controller(const HubController& from, ReplicationController& to) {
  from_meta(from.metadata(), *to.mutable_meta());
  *to.mutable_labels() = from.metadata().labels();
  auto& wanted = *to.mutable_desired_state();
  if (from.spec().replicas() != 0) wanted.set_replicas(from.spec().replicas());
  *wanted.mutable_replica_selector() = from.spec().selector();
  const auto& pods = from.spec().template_();
  auto& made = *wanted.mutable_pod_template();
  *made.mutable_labels() = pods.metadata().labels();
  from_spec(pods.spec(), *made.mutable_desired_state(), *made.mutable_node_selector());
  if (from.status().replicas() != 0)
    to.mutable_current_state()->set_replicas(from.status().replicas());
}

void fill_controller(ReplicationController& content) {
  fill_state(*content.mutable_desired_state()->mutable_pod_template()->mutable_desired_state());
}

bool says_something(const intstr::IntOrString& port) {
  return port.type() == 1 ? !port.str_val().empty() : port.int_val() != 0;
}

void to_service(const Service& from, HubService& to) {
  to_meta(from.meta(), *to.mutable_metadata());
  to_labels(from.labels(), *to.mutable_metadata()->mutable_labels());
  auto& spec = *to.mutable_spec();
  auto& port = *spec.add_ports();
  if (from.port() != 0) port.set_port(from.port());
  if (!from.protocol().empty()) port.set_protocol(from.protocol());
  if (says_something(from.container_port())) *port.mutable_target_port() = from.container_port();
  to_labels(from.selector(), *spec.mutable_selector());
  if (from.create_external_load_balancer()) spec.set_type("LoadBalancer");
  *spec.mutable_external_ips() = from.public_ips();
  if (!from.portal_ip().empty()) spec.set_cluster_ip(from.portal_ip());
  if (!from.session_affinity().empty()) spec.set_session_affinity(from.session_affinity());
}

// Shows the first of several ports.
void from_service(const HubService& from, Service& to) {
  from_meta(from.metadata(), *to.mutable_meta());
  *to.mutable_labels() = from.metadata().labels();
  const auto& spec = from.spec();
  if (!spec.ports().empty()) {
    const auto& port = spec.ports(0);
    if (port.port() != 0) to.set_port(port.port());
    if (!port.protocol().empty()) to.set_protocol(port.protocol());
    if (says_something(port.target_port())) *to.mutable_container_port() = port.target_port();
  }
  *to.mutable_selector() = spec.selector();
  if (spec.type() == "LoadBalancer") to.set_create_external_load_balancer(true);
  *to.mutable_public_ips() = spec.external_ips();
  if (!spec.cluster_ip().empty()) to.set_portal_ip(spec.cluster_ip());
  if (!spec.session_affinity().empty()) to.set_session_affinity(spec.session_affinity());
}

}  // namespace

void follow_port(const core::v1::Service& now, core::v1::Service& before) {
  if (now.spec().ports().empty() || before.spec().ports().empty()) return;
  if (const auto number = now.spec().ports(0).port(); number != 0)
    before.mutable_spec()->mutable_ports(0)->set_port(number);
}

void register_workloads(conversions& to) {
  to.add_kind<ReplicationController, HubController>();
  to.add_conversion(&to_controller);
  to.add_conversion(&from_controller);
  to.add_defaults(&fill_controller);
  to.add_kind<Service, HubService>();
  to.add_conversion(&to_service);
  to.add_conversion(&from_service);
}

}  // namespace troupe::api::v1beta1
