// The table of all rows (kind_row.hpp), assembled from its groups.
#include "api/kinds/adapters.hpp"

namespace troupe::api {

const kind_row& row_of(const google::protobuf::Descriptor& type) {
  static const auto& rows = *[] {
    auto* made = new kinds::row_table;
    kinds::add_core_kinds(*made);
    kinds::add_workload_kinds(*made);
    kinds::add_storage_kinds(*made);
    kinds::add_network_kinds(*made);
    kinds::add_cluster_kinds(*made);
    kinds::add_rbac_kinds(*made);
    kinds::add_definition_kinds(*made);
    kinds::add_api_service_kinds(*made);
    kinds::add_removed_kinds(*made);
    return made;
  }();
  static const auto& ordinary = *new kind_row;
  const auto found = rows.find(&type);
  return found == rows.end() ? ordinary : found->second;
}

}  // namespace troupe::api
