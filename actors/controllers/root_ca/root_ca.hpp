// Publishes the certificates of the cluster's authority as ConfigMap kube-root-ca.crt in every
// namespace, for pods that call the API (kubernetes:
// pkg/controller/certificates/rootcacertpublisher).
#pragma once

#include <memory>
#include <string>

#include "actors/controllers/kit/controller_type.hpp"
#include "api/schema/core_config.pb.h"

namespace troupe::actors::root_ca {

controller_type controller();

// The ConfigMap of a namespace.
std::unique_ptr<api::core::v1::ConfigMap> make_map(const std::string& ns,
                                                   const std::string& certificates);

// Its data are nobody else's to change. True when something was not as it should be.
bool restore_map(api::core::v1::ConfigMap& map, const std::string& certificates);

}  // namespace troupe::actors::root_ca
