// Environment variables that tell a container the services of its namespace (kubernetes:
// pkg/kubelet/envvars, getServiceEnvVarMap): NAME_SERVICE_HOST and _PORT, and the variables of
// Docker links. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

using variables = std::vector<std::pair<std::string, std::string>>;

// Where the API server listens on this machine; no host: it runs elsewhere.
struct local_api {
  std::string host = {};
  int port = 0;
};

// `services` are those of the pod's namespace; they are left out if the pod disables
// enableServiceLinks. The API is always included as the Service "kubernetes". Without a service
// network its own address is given, which processes can reach, instead of the service's:
// `api_endpoints` is the Endpoints object default/kubernetes, null if there is none. Endpoints
// cannot hold loopback addresses: `here` is used then.
variables service_variables(const api::core::v1::Pod& pod,
                            const std::vector<api::object_ptr>& services,
                            const api::object_ptr& api_endpoints, const local_api& here);

// Key prefix of the pod's services, and key of the Endpoints, that the variables are made from.
std::string services_prefix(const api::core::v1::Pod& pod);
std::string api_endpoints_key();

}  // namespace troupe::actors
