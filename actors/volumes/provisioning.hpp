// The built-in provisioner: volumes that are directories of one node
// (docs/decisions/0064-claims.md). Pure. The kubelet of that node creates and removes the directory
// (actors/kubelet/volumes/local_volumes.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/volumes/claim_rules.hpp"
#include "api/schema/core_node.pb.h"

namespace troupe::actors::volumes {

using api::core::v1::Node;

// The reason why no node can provide a volume for this claim; nothing if one can.
std::optional<std::string> check_provisioning(const StorageClass& storage_class,
                                              const PersistentVolumeClaim& claim);

// Whether the class allows its volumes on the node (allowedTopologies).
bool allows(const StorageClass& storage_class, const Node& node);
// Whether a volume that waits for no pod may be placed on the node: it is ready and schedulable.
bool takes_volumes(const Node& node);

// The claim's volume, already bound to it. Its name is derived from the claim's uid, so that a
// claim never gets two. Volumes of simulated nodes have no directory.
std::unique_ptr<PersistentVolume> make_volume(const PersistentVolumeClaim& claim,
                                              const StorageClass& storage_class, const Node& node);

// The default class of such volumes, for a cluster without another default.
std::unique_ptr<StorageClass> make_local_path_class();

}  // namespace troupe::actors::volumes
