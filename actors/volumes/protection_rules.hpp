// Claims and volumes that are in use do not go before that ends, and ephemeral volumes of pods have
// claims of their own. Pure.
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

// A volume of the pod that stands for a claim.
struct pod_claim {
  std::string volume;      // its name in the pod
  std::string claim;       // the claim's name
  bool ephemeral = false;  // made for the pod and owned by it
  bool read_only = false;
};
std::vector<pod_claim> claims_of(const Pod& pod);
bool has_claims(const api::object& pod);

// Whether the pod keeps its claims from being deleted: one without a node does not, as no kubelet
// starts a pod whose claim is to go.
bool holds_claims(const Pod& pod);

// Deleted, and `finalizer` is what it waits for.
bool awaits(const api::object& object, const char* finalizer);
// A copy without the finalizer.
std::unique_ptr<api::body> without(const api::object& object, const char* finalizer);

// The claim of an ephemeral volume: named POD-VOLUME, controlled by the pod.
std::unique_ptr<PersistentVolumeClaim> make_ephemeral_claim(const Pod& pod,
                                                            const std::string& volume);
// Whether the claim was made for the pod.
bool is_of(const PersistentVolumeClaim& claim, const Pod& pod);

}  // namespace troupe::actors::volumes
