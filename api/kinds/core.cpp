// The rows of namespaces, nodes, events, configuration and accounts.
#include "api/kinds/adapters.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_component.pb.h"
#include "api/schema/custom.pb.h"

namespace troupe::api::kinds {
namespace {

using namespace core::v1;

template <class T>
void check_config_as(field_errors& out, const body& content) {
  validation::check_config(out, as<T>(content));
}
template <class T>
void check_config_update_as(field_errors& out, const body& now, const body& was) {
  validation::check_config_update(out, as<T>(now), as<T>(was));
}

constexpr kind_part of_accounts[] = {
    {"token", "authentication.k8s.io", "v1", "TokenRequest", create_only}};
constexpr kind_part of_namespaces[] = {{"finalize", "", "v1", "Namespace", update_only}};
constexpr kind_part of_nodes[] = {{"proxy", "", "v1", "NodeProxyOptions", of_any_method, true}};

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

kind_row node_row() {
  kind_row row;
  row.parts = of_nodes;
  row.complete = &complete_as<Node>;
  // A node that registers sends its status too.
  row.begin = [](const kind_info&, body&) {};
  row.check = &check_as<Node>;
  row.check_update = [](field_errors& out, const body& now, const body& was) {
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
  row.confidential = true;
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

kind_row lease_row() {
  kind_row row;
  row.created_by_update = true;
  row.check = &check_as<coordination::v1::Lease>;
  row.columns = lease_columns;
  row.cells = &lease_cells;
  return row;
}

kind_row component_row() {
  auto row = with_cells(component_cells);
  row.is_computed = true;
  return row;
}

kind_row binding_row() {
  kind_row row;
  row.check = &check_as<Binding>;
  return row;
}

kind_row custom_row() {
  kind_row row;
  row.updates_a_revision = true;
  row.begin = &begin_custom;
  row.keep = &keep_custom_status;
  row.same_desired_state = &same_custom_desired_state;
  row.keep_in_status_update = &keep_all_but_custom_status;
  return row;
}

}  // namespace

void add_core_kinds(row_table& into) {
  add<Namespace>(into, namespace_row());
  add<Node>(into, node_row());
  add<Event>(into, event_row());
  add<ConfigMap>(into, config_map_row());
  add<Secret>(into, secret_row());
  add<ServiceAccount>(into, account_row());
  add<coordination::v1::Lease>(into, lease_row());
  add<Binding>(into, binding_row());
  add<ComponentStatus>(into, component_row());
  add<CustomBody>(into, custom_row());
}

}  // namespace troupe::api::kinds
