// Claims and volumes in use are not deleted before their use ends, and ephemeral volumes of pods
// get claims of their own. Pure.
//
// kubernetes: pkg/controller/volume/pvcprotection, pvprotection, ephemeral.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/volumes/claim_rules.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::volumes {

using api::core::v1::Pod;

// A volume of the pod that refers to a claim.
struct pod_claim {
  std::string volume;      // its name in the pod
  std::string claim;       // the claim's name
  bool ephemeral = false;  // created for the pod and owned by it
  bool read_only = false;
};
std::vector<pod_claim> claims_of(const Pod& pod);
bool has_claims(const api::object& pod);

// Whether the pod protects the claim from deletion. A pod without a node does not, because no
// kubelet starts a pod with a terminating claim. Nor does a pod that is shut down protect its
// ephemeral claims: its deletion may wait for theirs.
bool holds_claim(const Pod& pod, const PersistentVolumeClaim& claim);

// The claim of an ephemeral volume: named POD-VOLUME, owned by the pod.
std::unique_ptr<PersistentVolumeClaim> make_ephemeral_claim(const Pod& pod,
                                                            const std::string& volume);
// Whether the claim was created for the pod.
bool is_of(const PersistentVolumeClaim& claim, const Pod& pod);

}  // namespace troupe::actors::volumes
