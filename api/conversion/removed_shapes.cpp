#include "api/conversion/removed_shapes.hpp"

#include <google/protobuf/message.h>

#include "api/invariant.hpp"
#include "api/removed/batch_v1beta1.pb.h"
#include "api/removed/discovery_v1beta1.pb.h"
#include "api/removed/policy_v1beta1.pb.h"

namespace troupe::api {
namespace {

constexpr auto empty_selector_label = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";
constexpr auto host_label = "kubernetes.io/hostname";
constexpr auto zone_label = "topology.kubernetes.io/zone";

std::string same_path(std::string_view path) {
  return std::string(path);
}

// For versions whose protobuf differs in the name of the message only.
void copy_fields(const body& from, body& into) {
  ensure(into.ParseFromString(from.SerializeAsString()), "both versions have the same fields");
}

bool is_empty(const meta::v1::LabelSelector& selector) {
  return selector.match_labels().empty() && selector.match_expressions().empty();
}

bool is_condition(const meta::v1::LabelSelector& selector, std::string_view operator_name) {
  return selector.match_labels().empty() && selector.match_expressions_size() == 1 &&
         selector.match_expressions(0).key() == empty_selector_label &&
         selector.match_expressions(0).operator_() == operator_name;
}

void become_condition(meta::v1::LabelSelector& selector, const char* operator_name) {
  auto& condition = *selector.add_match_expressions();
  condition.set_key(empty_selector_label);
  condition.set_operator_(operator_name);
}

void show_budget(const body& home, body& shown) {
  copy_fields(home, shown);
  auto& budget = static_cast<policy::v1beta1::PodDisruptionBudget&>(shown);
  if (budget.spec().has_selector()) to_beta_budget(*budget.mutable_spec()->mutable_selector());
}

void take_budget(const body& shown, body& home) {
  copy_fields(shown, home);
  auto& budget = static_cast<policy::v1::PodDisruptionBudget&>(home);
  if (budget.spec().has_selector()) from_beta_budget(*budget.mutable_spec()->mutable_selector());
}

template <class From, class Into>
void copy_endpoint(const From& from, Into& into) {
  *into.mutable_addresses() = from.addresses();
  if (from.has_conditions()) *into.mutable_conditions() = from.conditions();
  if (from.has_hostname()) into.set_hostname(from.hostname());
  if (from.has_target_ref()) *into.mutable_target_ref() = from.target_ref();
  if (from.has_node_name()) into.set_node_name(from.node_name());
  if (from.has_hints()) *into.mutable_hints() = from.hints();
}

template <class From, class Into>
void copy_slice(const From& from, Into& into) {
  into.clear_address_type();
  if (from.has_address_type()) into.set_address_type(from.address_type());
  *into.mutable_ports() = from.ports();
  into.clear_endpoints();
}

void show_slice(const body& home, body& shown) {
  const auto& from = static_cast<const discovery::v1::EndpointSlice&>(home);
  auto& into = static_cast<discovery::v1beta1::EndpointSlice&>(shown);
  copy_slice(from, into);
  for (const auto& endpoint : from.endpoints()) {
    auto& made = *into.add_endpoints();
    copy_endpoint(endpoint, made);
    *made.mutable_topology() = endpoint.deprecated_topology();
    if (endpoint.has_zone()) (*made.mutable_topology())[zone_label] = endpoint.zone();
    if (endpoint.has_node_name()) (*made.mutable_topology())[host_label] = endpoint.node_name();
  }
}

// 1.20 itself names the node in the topology alone.
void take_slice(const body& shown, body& home) {
  const auto& from = static_cast<const discovery::v1beta1::EndpointSlice&>(shown);
  auto& into = static_cast<discovery::v1::EndpointSlice&>(home);
  copy_slice(from, into);
  for (const auto& endpoint : from.endpoints()) {
    auto& made = *into.add_endpoints();
    copy_endpoint(endpoint, made);
    auto& labels = *made.mutable_deprecated_topology();
    labels = endpoint.topology();
    if (const auto zone = labels.find(zone_label); zone != labels.end()) {
      made.set_zone(zone->second);
      labels.erase(zone);
    }
    if (const auto host = labels.find(host_label); host != labels.end()) {
      if (!made.has_node_name()) made.set_node_name(host->second);
      if (made.node_name() == host->second) labels.erase(host);
    }
  }
}

}  // namespace

void to_beta_budget(meta::v1::LabelSelector& selector) {
  if (is_empty(selector)) return become_condition(selector, "DoesNotExist");
  if (is_condition(selector, "Exists")) selector.Clear();
}

void from_beta_budget(meta::v1::LabelSelector& selector) {
  if (is_empty(selector)) return become_condition(selector, "Exists");
  if (is_condition(selector, "DoesNotExist")) selector.Clear();
}

const kind_shape beta_cron_job_shape = {"batch/v1", &copy_fields, &copy_fields, &same_path};
const kind_shape beta_budget_shape = {"policy/v1", &show_budget, &take_budget, &same_path};
const kind_shape beta_slice_shape = {"discovery.k8s.io/v1", &show_slice, &take_slice, &same_path};

}  // namespace troupe::api
