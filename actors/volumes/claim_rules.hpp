// Rules for which volume satisfies which claim, and both objects after the binding. Pure.
//
// kubernetes: component-helpers/storage/volume, pkg/controller/volume/persistentvolume/index.go.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/storage_v1.pb.h"
#include "api/values/quantity.hpp"

namespace troupe::actors::volumes {

using api::core::v1::PersistentVolume;
using api::core::v1::PersistentVolumeClaim;
using api::storage::v1::StorageClass;

// The class of the claim or volume; empty: none.
std::string class_of(const PersistentVolumeClaim& claim);
std::string class_of(const PersistentVolume& volume);
bool is_default(const StorageClass& storage_class);
bool waits_for_consumer(const StorageClass& storage_class);

api::quantity requested(const PersistentVolumeClaim& claim);
api::quantity capacity(const PersistentVolume& volume);

// Whether the volume is reserved for the claim or bound to it: by name, and by uid if it has
// one.
bool is_for(const PersistentVolume& volume, const PersistentVolumeClaim& claim);
// Whether the claim has a volume and its binding is complete.
bool is_bound(const PersistentVolumeClaim& claim);

// Why the volume in the claim's spec cannot be bound to it; nothing if it can.
std::optional<std::string> mismatch(const PersistentVolume& volume,
                                    const PersistentVolumeClaim& claim);

// The volume to bind: one that is reserved for the claim, else the smallest that fits, the first
// by name among equals. Null: none fits. `usable` excludes volumes (not reachable from a node,
// reserved for another claim); `delayed`: only reserved volumes, because no node is selected
// yet.
api::object_ptr best_match(const std::vector<api::object_ptr>& volumes,
                           const PersistentVolumeClaim& claim, bool delayed,
                           const std::function<bool(const PersistentVolume&)>& usable = nullptr);

// Both sides of a binding, for one transaction. The volume's phase is unchanged: alone it is a
// reservation for the claim.
std::unique_ptr<PersistentVolume> bound_volume(const PersistentVolume& volume,
                                               const PersistentVolumeClaim& claim);
std::unique_ptr<PersistentVolumeClaim> bound_claim(const PersistentVolumeClaim& claim,
                                                   const PersistentVolume& volume);

// -- the built-in provisioner ---------------------------------------------------------------------

// Whether the volume is a directory of the built-in provisioner on a node.
bool is_local_path(const PersistentVolume& volume);
// The node with the directory.
const std::string& node_of(const PersistentVolume& volume);
bool has_directory(const PersistentVolume& volume);

}  // namespace troupe::actors::volumes
