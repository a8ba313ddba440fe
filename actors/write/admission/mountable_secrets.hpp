// The secrets that pods of an account may use, where the account limits them by its annotation
// kubernetes.io/enforce-mountable-secrets to those that it lists. Pure.
//
// kubernetes: plugin/pkg/admission/serviceaccount, limitSecretReferences.
#pragma once

#include <string>

#include "api/schema/core_account.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::admission {

bool limits_secrets(const api::core::v1::ServiceAccount& account);

// Why the pod may not be created, in upstream's words; empty where it may. As upstream it looks at
// volumes of one secret, variables, and secrets for pulling images: not at projected volumes.
std::string find_forbidden_secret(const api::core::v1::ServiceAccount& account,
                                  const api::core::v1::Pod& pod);
// Of the containers that were added to a running pod.
std::string find_forbidden_addition(const api::core::v1::ServiceAccount& account,
                                    const api::core::v1::Pod& pod);

}  // namespace troupe::actors::admission
