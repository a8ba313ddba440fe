// The objects that a pod or a volume refers to: those that the pod's kubelet reads, and those that
// its node may read. Pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// The annotation of mirror pods, which represent static pods of a kubelet.
inline constexpr std::string_view mirror_annotation = "kubernetes.io/config.mirror";
bool is_mirror(const api::core::v1::Pod& pod);

// A token that a projected volume requests.
struct projected_token {
  std::string audience;  // empty: the API server
  std::int64_t expiration_seconds = 0;
  auto operator<=>(const projected_token&) const = default;
};
// Without duplicates.
std::vector<projected_token> projected_tokens(const api::core::v1::Pod& pod);
// The token that one source requests.
projected_token wanted_token(const api::core::v1::ServiceAccountTokenProjection& source);

// Keys of the ConfigMaps, Secrets, claims and RuntimeClass that a pod refers to, without
// duplicates: the objects that our kubelet reads.
std::vector<std::string> referenced_keys(const api::core::v1::Pod& pod);
// Empty if the pod names no RuntimeClass.
std::string runtime_class_key(const api::core::v1::Pod& pod);
// Keys of all objects that the pod's node may read, without duplicates: also image pull secrets,
// secrets of volume drivers, claims, the account (kubernetes: pkg/api/v1/pod, VisitPodSecretNames).
std::vector<std::string> used_keys(const api::core::v1::Pod& pod);

// The key of the claim to which a volume is bound; empty if it is not bound.
std::string claim_key(const api::core::v1::PersistentVolume& volume);
// Keys of the secrets that a node needs for a volume, without duplicates (kubernetes:
// VisitPVSecretNames in pkg/api/v1/persistentvolume, those that are visible to kubelets).
std::vector<std::string> secret_keys(const api::core::v1::PersistentVolume& volume);

}  // namespace troupe::actors
