// Requests to a minion's kubelet of 2014 through the server, below
// /api/v1beta1/proxy/minions/MINION or, in v0.2, /proxy/minion/MINION:
//
//   GET containerLogs/NAMESPACE/POD/CONTAINER    see container_logs.hpp
//   GET podInfo?podID=POD[&podNamespace=NS][&UUID=UID]    container states by name
//   GET healthz    "ok" if the minion is ready
//
// Today's kubelets have no such port: responses are made from the cluster's state, and other paths
// get a 404.
#pragma once

#include <string_view>
#include <vector>

#include "server/http/http.hpp"
#include "server/rest/calls/services.hpp"

namespace troupe::server::legacy {

// `parts`: segments after /api/v1beta1, or of the whole path; "minion" and "minions" are accepted.
bool is_minion_request(const std::vector<std::string_view>& parts);

// Serves such a path. For an unknown or unready minion healthz responds as nodes/proxy does.
void answer_for_minion(rest_services& services, const request& request, responder answer,
                       const std::vector<std::string_view>& parts);

}  // namespace troupe::server::legacy
