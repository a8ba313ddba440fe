// Gives a pod a token of its service account: a volume with the token, the CA certificates and the
// namespace, mounted in each container. Pure functions.
//
// kubernetes: plugin/pkg/admission/serviceaccount, TokenVolumeSource.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/schema/core_account.pb.h"
#include "api/schema/core_pod.pb.h"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors::admission {

// The ConfigMap in every namespace that holds the cluster's CA certificates, and its key.
inline constexpr std::string_view authority_map = "kube-root-ca.crt";
inline constexpr std::string_view authority_key = "ca.crt";

// The path that client libraries read (client-go: rest.InClusterConfig).
inline constexpr std::string_view api_access_path = "/var/run/secrets/kubernetes.io/serviceaccount";
inline constexpr std::string_view api_access_prefix = "kube-api-access-";
// kubernetes: pkg/serviceaccount, WarnOnlyBoundTokenExpirationPeriod. The API server extends the
// lifetime of tokens that are requested with exactly this duration.
inline constexpr std::int64_t mounted_token_seconds = 60 * 60 + 7;

// True if the cluster issues tokens: its CA is published in kube-system, which happens before the
// API is served.
bool mounts_tokens(const persistence::snapshot& state);

// The pod's setting takes precedence over its account's (null: the account does not exist yet).
bool wants_token(const api::core::v1::Pod& pod, const api::core::v1::ServiceAccount* account);

// Mounts the volume in each container that has no mount at api_access_path, and adds the volume if
// it is missing. `salt` determines the five letters at the end of its name.
void mount_api_access(api::core::v1::Pod& pod, std::uint64_t salt);

}  // namespace troupe::actors::admission
