// The annotation kubernetes.io/enforce-mountable-secrets of a service account restricts its pods to
// the secrets that the account lists. Pure functions.
//
// kubernetes: plugin/pkg/admission/serviceaccount, limitSecretReferences.
#pragma once

#include <string>

#include "api/schema/core_account.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::admission {

bool limits_secrets(const api::core::v1::ServiceAccount& account);

// Returns why the pod may not be created, in upstream's wording; empty if it may. Like upstream it
// checks secret volumes, variables and image pull secrets, but not projected volumes.
std::string find_forbidden_secret(const api::core::v1::ServiceAccount& account,
                                  const api::core::v1::Pod& pod);
// Checks the ephemeral containers that are added to a running pod.
std::string find_forbidden_addition(const api::core::v1::ServiceAccount& account,
                                    const api::core::v1::Pod& pod);

}  // namespace troupe::actors::admission
