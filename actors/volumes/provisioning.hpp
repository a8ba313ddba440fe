// The built-in provisioner: volumes that are directories of one node
// (docs/decisions/0064-claims.md). Pure. The directory itself is made and removed by the kubelet of
// that node (actors/kubelet/volumes/local_volumes.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/volumes/claim_rules.hpp"
#include "api/schema/core_node.pb.h"

namespace troupe::actors::volumes {

using api::core::v1::Node;

// Why no volume can be made for this claim, whatever the node.
std::optional<std::string> check_provisioning(const StorageClass& storage_class,
                                              const PersistentVolumeClaim& claim);

// Whether the class allows its volumes on the node (allowedTopologies).
bool allows(const StorageClass& storage_class, const Node& node);
// Whether a volume that waits for no pod may be put on the node: it is ready and schedulable.
bool takes_volumes(const Node& node);

// The volume of the claim, already bound to it. Its name follows from the claim's uid, so that a
// claim never gets two. Volumes of simulated nodes have no directory.
std::unique_ptr<PersistentVolume> make_volume(const PersistentVolumeClaim& claim,
                                              const StorageClass& storage_class, const Node& node);

// The class by which claims get such volumes when nobody has made another one.
std::unique_ptr<StorageClass> make_local_path_class();

}  // namespace troupe::actors::volumes
