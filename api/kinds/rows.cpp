// The one table of what is special about kinds (kind_row.hpp).
#include <unordered_map>

#include "api/kind_row.hpp"
#include "api/kinds/rbac.hpp"
#include "api/schema/autoscaling_v1.pb.h"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_account.pb.h"
#include "api/schema/custom.pb.h"
#include "api/schema/scheduling_v1.pb.h"
#include "api/strategy/new_pod.hpp"
#include "api/strategy/special_kinds.hpp"
#include "api/tables/row_cells.hpp"
#include "api/validation/checks.hpp"

namespace troupe::api {
namespace {

using namespace core::v1;
using apps::v1::Deployment;
using apps::v1::ReplicaSet;
using scheduling::v1::PriorityClass;

// -- functions of types as functions of bodies ----------------------------------------------------

template <class T>
T& as(body& content) {
  return static_cast<T&>(content);
}
template <class T>
const T& as(const body& content) {
  return static_cast<const T&>(content);
}

template <class T>
void complete_as(body& content) {
  complete(as<T>(content));
}
template <class T>
void check_as(findings& out, const body& content) {
  validation::check(out, as<T>(content));
}
template <class T>
void check_workload_as(findings& out, const body& content) {
  validation::check_workload(out, as<T>(content));
}
template <class T>
void check_config_as(findings& out, const body& content) {
  validation::check_config(out, as<T>(content));
}
template <class T>
void check_config_update_as(findings& out, const body& now, const body& was) {
  validation::check_config_update(out, as<T>(now), as<T>(was));
}

// -- parts ----------------------------------------------------------------------------------------

constexpr std::string_view create_only[] = {"create"};
constexpr std::string_view get_only[] = {"get"};
constexpr std::string_view update_only[] = {"update"};
constexpr std::string_view read_and_write[] = {"get", "patch", "update"};

constexpr kind_part of_pods[] = {
    {"attach", "", "v1", "PodAttachOptions", create_only, false},
    {"binding", "", "v1", "Binding", create_only},
    {"ephemeralcontainers", "", "v1", "Pod", read_and_write},
    {"eviction", "policy", "v1", "Eviction", create_only},
    {"exec", "", "v1", "PodExecOptions", create_only, false},
    {"log", "", "v1", "Pod", get_only},
    {"portforward", "", "v1", "PodPortForwardOptions", create_only, false},
};
constexpr kind_part of_accounts[] = {
    {"token", "authentication.k8s.io", "v1", "TokenRequest", create_only}};
constexpr kind_part of_namespaces[] = {{"finalize", "", "v1", "Namespace", update_only}};

// -- rows -----------------------------------------------------------------------------------------

kind_row pod_row() {
  kind_row row;
  row.parts = of_pods;
  row.deletion_shows_object = true;
  row.complete = &complete_as<Pod>;
  row.begin = [](const kind_info&, body& content) { initialize_pod(as<Pod>(content)); };
  row.plan_delete = [](const kind_info& kind, const body& stored,
                       const meta::v1::DeleteOptions& options, std::int64_t now_seconds) {
    return plan_delete(kind, as<Pod>(stored), options, now_seconds);
  };
  row.check = &check_as<Pod>;
  row.check_create = [](findings& out, const body& content) {
    validation::check_create(out, as<Pod>(content));
  };
  row.check_update = [](findings& out, const body& now, const body& was) {
    validation::check_pod_update(out, as<Pod>(now), as<Pod>(was));
  };
  row.columns = pod_columns;
  row.cells = &pod_cells;
  row.row_conditions = &pod_row_conditions;
  return row;
}

kind_row namespace_row() {
  kind_row row;
  row.name = DNS_LABEL;
  row.parts = of_namespaces;
  row.complete = &complete_as<Namespace>;
  row.begin = [](const kind_info&, body& content) { begin(as<Namespace>(content)); };
  row.keep = [](const kind_info&, body& now, const body& was) {
    *as<Namespace>(now).mutable_spec()->mutable_finalizers() =
        as<Namespace>(was).spec().finalizers();
  };
  row.plan_delete = [](const kind_info&, const body& stored, const meta::v1::DeleteOptions&,
                       std::int64_t now_seconds) {
    return plan_delete(as<Namespace>(stored), now_seconds);
  };
  row.holds_deletion = [](const body& content) {
    return !as<Namespace>(content).spec().finalizers().empty();
  };
  row.check = &check_as<Namespace>;
  row.columns = namespace_columns;
  row.cells = &namespace_cells;
  return row;
}

kind_row service_row() {
  kind_row row;
  row.name = DNS_1035_LABEL;
  row.deletion_shows_object = true;
  row.complete = &complete_as<Service>;
  row.keep = [](const kind_info&, body& now, const body& was) {
    keep_allocations(as<Service>(now), as<Service>(was));
  };
  row.check = [](findings& out, const body& content) {
    validation::check_service(out, as<Service>(content));
  };
  row.check_update = [](findings& out, const body& now, const body& was) {
    validation::check_service_update(out, as<Service>(now), as<Service>(was));
  };
  row.columns = service_columns;
  row.cells = &service_cells;
  return row;
}

kind_row endpoints_row() {
  kind_row row;
  row.created_by_update = true;
  row.check = [](findings& out, const body& content) {
    validation::check_endpoints(out, as<Endpoints>(content));
  };
  row.columns = endpoints_columns;
  row.cells = &endpoints_cells;
  return row;
}

kind_row node_row() {
  kind_row row;
  row.complete = &complete_as<Node>;
  // A node that registers brings its status along.
  row.begin = [](const kind_info&, body&) {};
  row.check = &check_as<Node>;
  row.check_update = [](findings& out, const body& now, const body& was) {
    validation::check_update(out, as<Node>(now), as<Node>(was));
  };
  row.columns = node_columns;
  row.cells = &node_cells;
  return row;
}

kind_row event_row() {
  kind_row row;
  row.created_by_update = true;
  row.has_dependents = false;
  row.check = &check_as<Event>;
  row.columns = event_columns;
  row.cells = &event_cells;
  return row;
}

template <class T>
kind_row replicas_row() {
  kind_row row;
  row.complete = &complete_as<T>;
  row.check = &check_workload_as<T>;
  row.columns = controller_columns;
  row.cells = &controller_cells<T>;
  return row;
}

kind_row deployment_row() {
  kind_row row;
  row.complete = &complete_as<Deployment>;
  row.same_wish = [](const kind_info&, const body& now, const body& was) {
    return same_wish(as<Deployment>(now), as<Deployment>(was));
  };
  row.status_keeps_labels = true;
  row.check = &check_workload_as<Deployment>;
  row.columns = deployment_columns;
  row.cells = &deployment_cells;
  return row;
}

template <class T>
kind_row config_row() {
  kind_row row;
  row.check = &check_config_as<T>;
  row.check_update = &check_config_update_as<T>;
  return row;
}

kind_row config_map_row() {
  auto row = config_row<ConfigMap>();
  row.columns = config_map_columns;
  row.cells = &config_map_cells;
  return row;
}

kind_row secret_row() {
  auto row = config_row<Secret>();
  row.complete = &complete_as<Secret>;
  row.columns = secret_columns;
  row.cells = &secret_cells;
  return row;
}

kind_row account_row() {
  kind_row row;
  row.parts = of_accounts;
  row.deletion_shows_object = true;
  row.columns = account_columns;
  row.cells = &account_cells;
  return row;
}

kind_row template_row() {
  kind_row row;
  row.deletion_shows_object = true;
  row.complete = &complete_as<PodTemplate>;
  row.check = &check_as<PodTemplate>;
  row.columns = template_columns;
  row.cells = &template_cells;
  return row;
}

kind_row lease_row() {
  kind_row row;
  row.created_by_update = true;
  row.columns = lease_columns;
  row.cells = &lease_cells;
  return row;
}

kind_row priority_row() {
  kind_row row;
  row.check = &check_as<PriorityClass>;
  row.columns = priority_columns;
  row.cells = &priority_cells;
  return row;
}

kind_row scale_row() {
  kind_row row;
  row.columns = scale_columns;
  row.cells = &scale_cells;
  return row;
}

kind_row binding_row() {
  kind_row row;
  row.check = &check_as<Binding>;
  return row;
}

kind_row custom_row() {
  kind_row row;
  row.begin = &begin_custom;
  row.keep = &keep_custom_status;
  row.same_wish = &same_custom_wish;
  row.keep_at_status = &keep_all_but_custom_status;
  return row;
}

}  // namespace

const kind_row& row_of(const google::protobuf::Descriptor& type) {
  static const auto& rows = *new std::unordered_map<const google::protobuf::Descriptor*, kind_row>{
      {Pod::descriptor(), pod_row()},
      {PodTemplate::descriptor(), template_row()},
      {ReplicationController::descriptor(), replicas_row<ReplicationController>()},
      {ReplicaSet::descriptor(), replicas_row<ReplicaSet>()},
      {Deployment::descriptor(), deployment_row()},
      {Service::descriptor(), service_row()},
      {Endpoints::descriptor(), endpoints_row()},
      {Node::descriptor(), node_row()},
      {Namespace::descriptor(), namespace_row()},
      {Event::descriptor(), event_row()},
      {ConfigMap::descriptor(), config_map_row()},
      {Secret::descriptor(), secret_row()},
      {ServiceAccount::descriptor(), account_row()},
      {coordination::v1::Lease::descriptor(), lease_row()},
      {PriorityClass::descriptor(), priority_row()},
      {autoscaling::v1::Scale::descriptor(), scale_row()},
      {Binding::descriptor(), binding_row()},
      {CustomBody::descriptor(), custom_row()},
  };
  if (const auto* row = rbac_row_of(type)) return *row;
  static const auto& ordinary = *new kind_row;
  const auto found = rows.find(&type);
  return found == rows.end() ? ordinary : found->second;
}

}  // namespace troupe::api
