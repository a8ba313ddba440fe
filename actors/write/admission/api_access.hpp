// How a pod comes to a token of its service account: a volume with the token, the certificates of
// the cluster and the namespace, mounted in each container. Pure.
//
// kubernetes: plugin/pkg/admission/serviceaccount, TokenVolumeSource.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/schema/core_account.pb.h"
#include "api/schema/core_pod.pb.h"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors::admission {

// The ConfigMap with the certificates of the cluster's authority, in every namespace, and its key.
inline constexpr std::string_view authority_map = "kube-root-ca.crt";
inline constexpr std::string_view authority_key = "ca.crt";

// Where client libraries look for it (client-go: rest.InClusterConfig).
inline constexpr std::string_view api_access_path = "/var/run/secrets/kubernetes.io/serviceaccount";
inline constexpr std::string_view api_access_prefix = "kube-api-access-";
// kubernetes: pkg/serviceaccount, WarnOnlyBoundTokenExpirationPeriod. By this number the API server
// knows the tokens that it makes good for longer.
inline constexpr std::int64_t mounted_token_seconds = 60 * 60 + 7;

// Whether this cluster gives tokens at all: it has published its authority in kube-system, which
// happens before the API is served.
bool gives_tokens(const persistence::snapshot& state);

// What the pod says counts, then what its account says (null: there is none yet).
bool wants_token(const api::core::v1::Pod& pod, const api::core::v1::ServiceAccount* account);

// Mounts the volume in each container that has nothing at api_access_path, and adds it where it is
// not there yet. `salt` decides the five letters at the end of its name.
void mount_api_access(api::core::v1::Pod& pod, std::uint64_t salt);

}  // namespace troupe::actors::admission
