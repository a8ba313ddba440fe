// What a minion's kubelet of 2014 could be asked through the server, below
// /api/v1beta1/proxy/minions/MINION or, as v0.2 had it, /proxy/minion/MINION:
//
//   GET containerLogs/NAMESPACE/POD/CONTAINER    see container_logs.hpp
//   GET podInfo?podID=POD[&podNamespace=NS][&UUID=UID]    the state of its containers, by name
//   GET healthz    "ok" of a minion that is ready
//
// Kubelets of today listen on no such port: the answers come from the cluster's state, and other
// paths are not found.
#pragma once

#include <string_view>
#include <vector>

#include "server/http/http.hpp"
#include "server/rest/calls/services.hpp"

namespace troupe::server::legacy {

// The parts of a path behind /api/v1beta1, or of a whole one; either may say minion or minions.
bool asks_a_minion(const std::vector<std::string_view>& parts);

// Of such a path. An unknown minion and one that is not ready answer healthz as nodes/proxy does.
void answer_for_minion(rest_services& services, const request& request, responder answer,
                       const std::vector<std::string_view>& parts);

}  // namespace troupe::server::legacy
