// The variables by which a container finds the services of its namespace (kubernetes:
// pkg/kubelet/envvars, getServiceEnvVarMap): NAME_SERVICE_HOST and _PORT, and those of Docker's
// links. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

using variables = std::vector<std::pair<std::string, std::string>>;

// Where the API listens on this machine; no host: elsewhere.
struct local_api {
  std::string host = {};
  int port = 0;
};

// `services` are those of the pod's namespace; none of them counts where the pod says so
// (enableServiceLinks). The API is always among them, as the Service "kubernetes". Without a
// network for services its own address is named, which processes reach, not that of the service:
// `api_endpoints` is the Endpoints object default/kubernetes, null where there is none. Endpoints
// are no place for loopback addresses: then `here` counts.
variables service_variables(const api::core::v1::Pod& pod,
                            const std::vector<api::object_ptr>& services,
                            const api::object_ptr& api_endpoints, const local_api& here);

// The keys of what they are made from; the first of all objects below it.
std::string services_prefix(const api::core::v1::Pod& pod);
std::string api_endpoints_key();

}  // namespace troupe::actors
