// kubernetes: pkg/apis/rbac/{v1/defaults.go,validation/validation.go}, pkg/registry/rbac.
#include "api/kinds/rbac.hpp"

#include <array>
#include <initializer_list>
#include <string>

#include "api/codec/json_text.hpp"
#include "api/equality.hpp"
#include "api/kinds/adapters.hpp"
#include "api/schema/rbac_v1.pb.h"
#include "api/tables/row_cells.hpp"
#include "api/validation/checks.hpp"
#include "api/values/syntax.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::api {
namespace {

using namespace rbac::v1;
using words = std::initializer_list<std::string_view>;

constexpr std::string_view user_kind = "User";
constexpr std::string_view group_kind = "Group";
constexpr std::string_view account_kind = "ServiceAccount";

// -- defaults -------------------------------------------------------------------------------------

void complete(Subject& subject) {
  const bool named = subject.kind() == user_kind || subject.kind() == group_kind;
  if (named && subject.api_group().empty()) subject.set_api_group(std::string{rbac_group});
}

template <class Binding>
void complete_binding(body& content) {
  auto& binding = static_cast<Binding&>(content);
  if (binding.role_ref().api_group().empty())
    binding.mutable_role_ref()->set_api_group(std::string{rbac_group});
  for (auto& subject : *binding.mutable_subjects())
    complete(subject);
}

// -- validation -----------------------------------------------------------------------------------

// Names may contain anything that is valid in a path: "system:controller:x".
void check_name(field_errors& out, const meta::v1::ObjectMeta& meta) {
  const auto step = out.at.field("metadata");
  if (!meta.name().empty()) out.each("name", meta.name(), check_path_segment(meta.name()));
}

std::string as_list(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  std::string out = "[";
  for (const auto& text : texts) {
    if (out.size() > 1) out += ',';
    append_json_string(out, text);
  }
  return out + "]";
}

void check_rule(field_errors& out, const PolicyRule& rule, bool namespaced) {
  if (rule.verbs().empty()) out.required("verbs", "verbs must contain at least one value");
  if (!rule.non_resource_ur_ls().empty()) {
    const auto paths = as_list(rule.non_resource_ur_ls());
    if (namespaced)
      out.invalid_json("nonResourceURLs", paths,
                       "namespaced rules cannot apply to non-resource URLs");
    if (!rule.api_groups().empty() || !rule.resources().empty() || !rule.resource_names().empty())
      out.invalid_json("nonResourceURLs", paths,
                       "rules cannot apply to both regular resources and non-resource URLs");
    return;
  }
  if (rule.api_groups().empty())
    out.required("apiGroups", "resource rules must supply at least one api group");
  if (rule.resources().empty())
    out.required("resources", "resource rules must supply at least one resource");
}

template <class SomeRole>
void check_rules_of(field_errors& out, const SomeRole& role, bool namespaced) {
  check_name(out, role.metadata());
  for (int i = 0; i < role.rules_size(); ++i) {
    const auto step = out.at.item("rules", i);
    check_rule(out, role.rules(i), namespaced);
  }
}

void check_role(field_errors& out, const body& content) {
  check_rules_of(out, static_cast<const Role&>(content), true);
}

void check_cluster_role(field_errors& out, const body& content) {
  const auto& role = static_cast<const ClusterRole&>(content);
  check_rules_of(out, role, false);
  if (!role.has_aggregation_rule()) return;
  const auto step = out.at.field("aggregationRule");
  const auto& selectors = role.aggregation_rule().cluster_role_selectors();
  if (selectors.empty())
    out.required("clusterRoleSelectors",
                 "at least one clusterRoleSelector required if aggregationRule is non-nil");
  for (int i = 0; i < selectors.size(); ++i) {
    const auto inner = out.at.item("clusterRoleSelectors", i);
    validation::check_label_selector(out, selectors[i]);
  }
}

void check_account(field_errors& out, const Subject& subject, bool namespaced) {
  if (!subject.name().empty())
    out.each("name", subject.name(), check_dns_subdomain(subject.name()));
  if (!subject.api_group().empty()) out.unsupported("apiGroup", subject.api_group(), words{""});
  if (!namespaced && subject.namespace_().empty()) out.required("namespace");
}

void check_subject(field_errors& out, const Subject& subject, bool namespaced) {
  if (subject.name().empty()) out.required("name");
  const auto& kind = subject.kind();
  if (kind == account_kind) return check_account(out, subject, namespaced);
  if (kind != user_kind && kind != group_kind)
    return out.unsupported("kind", kind, words{account_kind, user_kind, group_kind});
  if (subject.api_group() != rbac_group)
    out.unsupported("apiGroup", subject.api_group(), words{rbac_group});
}

void check_reference(field_errors& out, const RoleRef& reference, bool namespaced) {
  const auto step = out.at.field("roleRef");
  if (reference.api_group() != rbac_group)
    out.unsupported("apiGroup", reference.api_group(), words{rbac_group});
  const auto& kind = reference.kind();
  if (namespaced && kind != "Role" && kind != "ClusterRole")
    out.unsupported("kind", kind, words{"Role", "ClusterRole"});
  if (!namespaced && kind != "ClusterRole") out.unsupported("kind", kind, words{"ClusterRole"});
  if (reference.name().empty())
    out.required("name");
  else
    out.each("name", reference.name(), check_path_segment(reference.name()));
}

template <class Binding>
void check_binding(field_errors& out, const body& content) {
  const auto& binding = static_cast<const Binding&>(content);
  constexpr bool namespaced = std::is_same_v<Binding, RoleBinding>;
  check_name(out, binding.metadata());
  check_reference(out, binding.role_ref(), namespaced);
  for (int i = 0; i < binding.subjects_size(); ++i) {
    const auto step = out.at.item("subjects", i);
    check_subject(out, binding.subjects(i), namespaced);
  }
}

std::string as_json(const RoleRef& reference) {
  std::string out = R"({"apiGroup":)";
  append_json_string(out, reference.api_group());
  out += R"(,"kind":)";
  append_json_string(out, reference.kind());
  out += R"(,"name":)";
  append_json_string(out, reference.name());
  return out + "}";
}

template <class Binding>
void check_binding_update(field_errors& out, const body& now, const body& was) {
  const auto& reference = static_cast<const Binding&>(now).role_ref();
  if (!same_meaning(reference, static_cast<const Binding&>(was).role_ref()))
    out.invalid_json("roleRef", as_json(reference), "cannot change roleRef");
}

// -- tables ---------------------------------------------------------------------------------------

constexpr table_column name_column = {"Name", "string",
                                      "Name of the object, unique within its namespace."};
constexpr std::array<table_column, 2> role_columns = {
    name_column, table_column{"Created At", "date", "When the object was created."}};
constexpr std::array<table_column, 6> binding_columns = {
    name_column,
    table_column{"Role", "string", "The role that is given."},
    table_column{"Age", "string", "Time since the object was created."},
    table_column{"Users", "string", "Users who have the role.", 1},
    table_column{"Groups", "string", "Groups that have the role.", 1},
    table_column{"ServiceAccounts", "string", "Service accounts that have the role.", 1}};

template <class SomeRole>
void role_cells(row_cells& into, const body& content) {
  const auto& meta = static_cast<const SomeRole&>(content).metadata();
  std::string made;
  append_time(made, meta.creation_timestamp().seconds());
  into.text(meta.name()).text(made);
}

// "a, b"; service accounts as NAMESPACE/NAME.
template <class Subjects>
std::string shown_subjects(const Subjects& subjects, std::string_view kind) {
  std::string out;
  for (const auto& subject : subjects) {
    if (subject.kind() != kind) continue;
    if (!out.empty()) out += ", ";
    if (kind == account_kind) out += subject.namespace_() + "/";
    out += subject.name();
  }
  return out;
}

template <class Binding>
void binding_cells(row_cells& into, const body& content) {
  const auto& binding = static_cast<const Binding&>(content);
  into.text(binding.metadata().name())
      .text(binding.role_ref().kind() + "/" + binding.role_ref().name())
      .age(binding.metadata())
      .text(shown_subjects(binding.subjects(), user_kind))
      .text(shown_subjects(binding.subjects(), group_kind))
      .text(shown_subjects(binding.subjects(), account_kind));
}

// -- rows -----------------------------------------------------------------------------------------

template <class SomeRole>
kind_row role_row(void (*check)(field_errors&, const body&)) {
  kind_row row;
  row.name = FREE;
  row.created_by_update = true;
  row.check = check;
  row.columns = role_columns;
  row.cells = &role_cells<SomeRole>;
  return row;
}

template <class Binding>
kind_row binding_row() {
  kind_row row;
  row.name = FREE;
  row.created_by_update = true;
  row.complete = &complete_binding<Binding>;
  row.check = &check_binding<Binding>;
  row.check_update = &check_binding_update<Binding>;
  row.columns = binding_columns;
  row.cells = &binding_cells<Binding>;
  return row;
}

}  // namespace

namespace kinds {

void add_rbac_kinds(row_table& into) {
  add<Role>(into, role_row<Role>(&check_role));
  add<ClusterRole>(into, role_row<ClusterRole>(&check_cluster_role));
  add<RoleBinding>(into, binding_row<RoleBinding>());
  add<ClusterRoleBinding>(into, binding_row<ClusterRoleBinding>());
}

}  // namespace kinds

}  // namespace troupe::api
