// Adapts functions of typed messages to functions of bodies, for the rows of this folder.
#pragma once

#include <string_view>
#include <unordered_map>

#include "api/kind_row.hpp"
#include "api/strategy/other_kinds.hpp"
#include "api/strategy/service_update.hpp"
#include "api/strategy/special_kinds.hpp"
#include "api/strategy/workload_kinds.hpp"
#include "api/tables/kind_cells.hpp"
#include "api/validation/checks.hpp"
#include "api/validation/cluster.hpp"
#include "api/validation/more_workloads.hpp"
#include "api/validation/network.hpp"
#include "api/validation/policies.hpp"
#include "api/validation/storage.hpp"

namespace troupe::api::kinds {

using api::as;

template <class T>
T& as(body& content) {
  return static_cast<T&>(content);
}

template <class T>
void complete_as(body& content) {
  complete(as<T>(content));
}
template <class T>
void begin_as(const kind_info&, body& content) {
  begin(as<T>(content));
}
template <class T>
void check_as(field_errors& out, const body& content) {
  validation::check(out, as<T>(content));
}
template <class T>
void check_create_as(field_errors& out, const body& content) {
  validation::check_create(out, as<T>(content));
}
template <class T>
void check_update_as(field_errors& out, const body& now, const body& was) {
  validation::check_update(out, as<T>(now), as<T>(was));
}
template <class T>
void check_status_as(field_errors& out, const body& now, const body& was) {
  validation::check_status(out, as<T>(now), as<T>(was));
}

inline kind_row with_cells(const kind_cells& cells) {
  kind_row row;
  row.columns = cells.columns;
  row.cells = cells.write;
  return row;
}
// A row that only checks the whole object; most kinds need no more.
template <class T>
kind_row checked(const kind_cells& cells) {
  auto row = with_cells(cells);
  row.check = &check_as<T>;
  return row;
}

inline constexpr std::string_view create_only[] = {"create"};
inline constexpr std::string_view create_and_get[] = {"create", "get"};
inline constexpr std::string_view get_only[] = {"get"};
inline constexpr std::string_view of_any_method[] = {"create", "delete", "get", "patch", "update"};
inline constexpr std::string_view update_only[] = {"update"};
inline constexpr std::string_view read_and_write[] = {"get", "patch", "update"};

// The end of the Warning, after the kind's plural, for kinds that are stored but not acted on.
inline constexpr std::string_view not_enforced =
    "are stored, but this cluster does not enforce them yet";

using row_table = std::unordered_map<const google::protobuf::Descriptor*, kind_row>;
template <class T>
void add(row_table& into, kind_row row) {
  into.emplace(T::descriptor(), row);
}

// Each is defined in one file of the folder; rows.cpp calls them.
void add_core_kinds(row_table& into);
void add_workload_kinds(row_table& into);
void add_storage_kinds(row_table& into);
void add_network_kinds(row_table& into);
void add_cluster_kinds(row_table& into);
void add_rbac_kinds(row_table& into);
void add_definition_kinds(row_table& into);
void add_api_service_kinds(row_table& into);
void add_removed_kinds(row_table& into);

}  // namespace troupe::api::kinds
