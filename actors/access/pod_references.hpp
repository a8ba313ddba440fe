// Which other objects a pod and a volume refer to: what the pod's kubelet reads, and what its node
// may read. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// On a pod that stands for one that its kubelet runs by itself.
inline constexpr std::string_view mirror_annotation = "kubernetes.io/config.mirror";
bool is_mirror(const api::core::v1::Pod& pod);

// A token that projected volumes of a pod ask for.
struct projected_token {
  std::string audience;  // empty: the API server
  std::int64_t expiration_seconds = 0;
  auto operator<=>(const projected_token&) const = default;
};
// Each once.
std::vector<projected_token> projected_tokens(const api::core::v1::Pod& pod);
// What one source asks for.
projected_token wanted_token(const api::core::v1::ServiceAccountTokenProjection& source);

// Keys of the config maps, secrets and claims that the containers and volumes of a pod refer to,
// and of its RuntimeClass, each once: what our kubelet reads.
std::vector<std::string> referenced_keys(const api::core::v1::Pod& pod);
// Empty where it names none.
std::string runtime_class_key(const api::core::v1::Pod& pod);
// Of all that the node of a pod may read for it, each once: also secrets for pulling images and for
// drivers of volumes, claims, the account (kubernetes: pkg/api/v1/pod, VisitPodSecretNames).
std::vector<std::string> used_keys(const api::core::v1::Pod& pod);

// Key of the claim that a volume is bound to; empty where it is not.
std::string claim_key(const api::core::v1::PersistentVolume& volume);
// Keys of the secrets that a node needs for a volume, each once (kubernetes: pkg/api/v1/
// persistentvolume, VisitPVSecretNames, those that are visible to kubelets).
std::vector<std::string> secret_keys(const api::core::v1::PersistentVolume& volume);

}  // namespace troupe::actors
