// The rows of volumes, claims, storage classes and drivers.
#include "api/kinds/adapters.hpp"

namespace troupe::api::kinds {
namespace {

using core::v1::PersistentVolume;
using core::v1::PersistentVolumeClaim;
using namespace storage::v1;

// For volumes and claims.
template <class T>
kind_row volume_row(const kind_cells& cells) {
  auto row = checked<T>(cells);
  row.deletion_shows_object = true;
  row.begin = &begin_as<T>;
  row.check_update = &check_update_as<T>;
  return row;
}

template <class T>
kind_row with_update(const kind_cells& cells) {
  auto row = checked<T>(cells);
  row.check_update = &check_update_as<T>;
  return row;
}

kind_row driver_row() {
  auto row = checked<CSIDriver>(csi_driver_cells);
  row.complete = &complete_as<CSIDriver>;
  return row;
}

}  // namespace

void add_storage_kinds(row_table& into) {
  add<PersistentVolume>(into, volume_row<PersistentVolume>(volume_cells));
  add<PersistentVolumeClaim>(into, volume_row<PersistentVolumeClaim>(claim_cells));
  add<StorageClass>(into, with_update<StorageClass>(storage_class_cells));
  add<CSIDriver>(into, driver_row());
  add<CSINode>(into, with_update<CSINode>(csi_node_cells));
  add<CSIStorageCapacity>(into, checked<CSIStorageCapacity>(capacity_cells));
  add<VolumeAttachment>(into, with_update<VolumeAttachment>(attachment_cells));
}

}  // namespace troupe::api::kinds
