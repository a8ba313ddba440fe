// Columns and cells of the kinds other than pods, services and the first workloads
// (row_cells.hpp), for their rows (kinds/). The columns are upstream's
// (pkg/printers/internalversion/printers.go).
#pragma once

#include <span>

#include "api/tables/row_cells.hpp"

namespace troupe::api {

// For the functions of rows: they get bodies of their kind.
template <class T>
const T& as(const body& content) {
  return static_cast<const T&>(content);
}

struct kind_cells {
  std::span<const table_column> columns;
  void (*write)(row_cells& into, const body& content);
};

// -- workloads
extern const kind_cells daemon_set_cells;
extern const kind_cells stateful_set_cells;
extern const kind_cells revision_cells;
extern const kind_cells job_cells;
extern const kind_cells cron_job_cells;
extern const kind_cells autoscaler_cells;
extern const kind_cells budget_cells;

// -- storage
extern const kind_cells volume_cells;
extern const kind_cells claim_cells;
extern const kind_cells storage_class_cells;
extern const kind_cells csi_driver_cells;
extern const kind_cells csi_node_cells;
extern const kind_cells capacity_cells;
extern const kind_cells attachment_cells;

// -- networks
extern const kind_cells slice_cells;
extern const kind_cells ingress_cells;
extern const kind_cells ingress_class_cells;
extern const kind_cells network_policy_cells;
extern const kind_cells service_range_cells;
extern const kind_cells address_cells;

// -- the cluster
extern const kind_cells quota_cells;
extern const kind_cells limit_cells;
extern const kind_cells component_cells;
extern const kind_cells node_usage_cells;
extern const kind_cells pod_usage_cells;
extern const kind_cells runtime_class_cells;
extern const kind_cells certificate_cells;
extern const kind_cells flow_schema_cells;
extern const kind_cells priority_level_cells;
extern const kind_cells validating_webhook_cells;
extern const kind_cells mutating_webhook_cells;
extern const kind_cells policy_cells;
extern const kind_cells policy_binding_cells;

// -- shared ---------------------------------------------------------------------------------------

inline constexpr table_column name_column = {"Name", "string",
                                             "Name of the object, unique within its namespace."};
inline constexpr table_column age_column = {"Age", "string", "Time since the object was created."};
inline constexpr table_column containers_column = {"Containers", "string",
                                                   "Names of the containers.", 1};
inline constexpr table_column images_column = {"Images", "string", "Images of the containers.", 1};
inline constexpr table_column selector_column = {"Selector", "string",
                                                 "The pods that belong to it.", 1};
inline constexpr std::string_view unset = "<unset>";

// "a=1,b in (2,3)"; "<none>" for an empty selector.
std::string shown_selector(const meta::v1::LabelSelector& selector);
// The first elements of a list and the number of the others: "80,443 + 2 more...".
class short_list {
 public:
  explicit short_list(int most) : most_(most) {}
  void add(std::string_view text);
  // Returns `nothing` for an empty list.
  std::string text(std::string_view nothing) const;

 private:
  int most_;
  int count_ = 0;
  std::string text_;
};

}  // namespace troupe::api
