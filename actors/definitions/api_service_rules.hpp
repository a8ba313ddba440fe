// The rules for APIServices of groups that this server serves itself ("Local": without a service):
// one for each version of a built-in group, created when the server starts, and one for each
// version of a custom group, kept by the api_service_registrar. A label tells the two apart; an
// APIService without the label belongs to the user who created it. Pure.
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

// The label kube-aggregator.kubernetes.io/automanaged: absent or unknown, "onstart", "true".
enum class api_management { none, on_start, always };
api_management management_of(const api::object& api_service);

// `name` is VERSION.GROUP ("v1.apps", "v1."). The result has label and priorities, but no uid.
std::unique_ptr<api::apiregistration::v1::APIService> local_api_service(std::string_view name,
                                                                        api_management management);

// The names of the APIServices for the definition's served versions, without built-in versions.
std::vector<std::string> api_services_of(
    const api::apiextensions::v1::CustomResourceDefinition& definition);

// The write that an APIService of a custom group needs. `wanted`: a definition serves the version.
// `current`: the stored APIService, or null.
enum class api_service_action { none, create, restore, remove };
api_service_action action_for(std::string_view name, bool wanted, const api::object* current);

// Adds mutations to `into` that create missing APIServices of built-in groups, restore the spec of
// those with the label "onstart", and remove labelled ones whose version is not served any more.
void reconcile_api_services(const persistence::snapshot& state, runtime::wall_time now,
                            std::mt19937_64& random, persistence::transaction& into);

}  // namespace troupe::actors
