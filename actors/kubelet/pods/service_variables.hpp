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

// How containers of this machine reach the API.
struct local_api {
  // Where it listens on this machine; no host: it runs elsewhere.
  std::string host = {};
  int port = 0;
  bool by_service = false;  // this node has rules for services
};

// `services` are those of the pod's namespace; they are left out if the pod disables
// enableServiceLinks. The API is always included as the Service "kubernetes". On a node without
// rules for services its own address is given, which processes can reach, instead of the service's.
// `api` is the object with `api_key`: the Service default/kubernetes, else its Endpoints; null if
// there is none. Endpoints cannot hold loopback addresses: `here` is used then.
variables service_variables(const api::core::v1::Pod& pod,
                            const std::vector<api::object_ptr>& services,
                            const api::object_ptr& api, const local_api& here);

// Key prefix of the pod's services, and key of the API's object, that the variables are made from.
std::string services_prefix(const api::core::v1::Pod& pod);
std::string api_key(const local_api& here);

}  // namespace troupe::actors
