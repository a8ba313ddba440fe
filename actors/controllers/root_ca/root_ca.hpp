// The controller that publishes the cluster's CA certificates as ConfigMap kube-root-ca.crt in
// every namespace, for pods that call the API (kubernetes:
// pkg/controller/certificates/rootcacertpublisher).
#pragma once

#include <memory>
#include <string>

#include "actors/controllers/kit/controller_type.hpp"
#include "api/schema/core_config.pb.h"

namespace troupe::actors::root_ca {

controller_type controller();

// Creates the ConfigMap for a namespace.
std::unique_ptr<api::core::v1::ConfigMap> make_map(const std::string& ns,
                                                   const std::string& certificates);

// Restores the data of the ConfigMap; returns true if it had been changed.
bool restore_map(api::core::v1::ConfigMap& map, const std::string& certificates);

}  // namespace troupe::actors::root_ca
