// Rules of volumes, classes and drivers; for the table of rows (kinds/). `out.at` is the path of
// the object.
#pragma once

#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/storage_v1.pb.h"
#include "api/validation/field_errors.hpp"

namespace troupe::api::validation {

void check(field_errors& out, const core::v1::PersistentVolume& object);
void check_update(field_errors& out, const core::v1::PersistentVolume& now,
                  const core::v1::PersistentVolume& was);
void check(field_errors& out, const core::v1::PersistentVolumeClaim& object);
void check_update(field_errors& out, const core::v1::PersistentVolumeClaim& now,
                  const core::v1::PersistentVolumeClaim& was);

void check(field_errors& out, const storage::v1::StorageClass& object);
void check_update(field_errors& out, const storage::v1::StorageClass& now,
                  const storage::v1::StorageClass& was);
void check(field_errors& out, const storage::v1::CSIDriver& object);
void check(field_errors& out, const storage::v1::CSINode& object);
void check_update(field_errors& out, const storage::v1::CSINode& now,
                  const storage::v1::CSINode& was);
void check(field_errors& out, const storage::v1::CSIStorageCapacity& object);
void check(field_errors& out, const storage::v1::VolumeAttachment& object);
void check_update(field_errors& out, const storage::v1::VolumeAttachment& now,
                  const storage::v1::VolumeAttachment& was);

}  // namespace troupe::api::validation
