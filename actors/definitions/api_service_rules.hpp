// The APIServices of what this server serves itself, which name no service ("Local"): one for each
// version of a built-in group, made when the server starts, and one for each that a definition
// serves, kept by the api_service_registrar. A label says which of the two it is; an APIService
// without the label belongs to whoever made it. Pure.
//
// kubernetes: kube-aggregator/pkg/controllers/autoregister,
// pkg/controlplane/apiserver/aggregator.go (apiServicesToRegister),
// pkg/controlplane/controller/crdregistration.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/schema/apiregistration_v1.pb.h"
#include "persistence/transaction.hpp"
#include "persistence/tree/snapshot.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

// By the label kube-aggregator.kubernetes.io/automanaged: not at all, "onstart", "true".
enum class api_management { none, on_start, always };
api_management management_of(const api::object& api_service);

// `name` is VERSION.GROUP ("v1.apps", "v1."). With label and priorities, without uid.
std::unique_ptr<api::apiregistration::v1::APIService> local_api_service(std::string_view name,
                                                                        api_management management);

// The names of those that a definition asks for: of its served versions, built-in ones left out.
std::vector<std::string> api_services_of(
    const api::apiextensions::v1::CustomResourceDefinition& definition);

// What is to be done about an APIService that a definition asks for, or none does any more.
// `current` may be null.
enum class api_service_action { none, create, restore, remove };
api_service_action action_for(std::string_view name, bool wanted, const api::object* current);

// Adds to `into` what a store lacks of those of the built-in groups, puts the spec of managed ones
// right, and removes those of built-in versions that are served no more.
void reconcile_api_services(const persistence::snapshot& state, runtime::wall_time now,
                            std::mt19937_64& random, persistence::transaction& into);

}  // namespace troupe::actors
