// /proxy/minions/MINION/containerLogs/NAMESPACE/POD/CONTAINER: what `kubectl log` of 0.5 and 0.6
// asks the pod's minion for through the server. It is the log of today's API.
#pragma once

#include <string_view>
#include <vector>

#include "server/http/http.hpp"
#include "server/rest/calls/services.hpp"

namespace troupe::server::legacy {

// `parts` are those of the path from "proxy" on. Answers the log as text, with `follow=1` as long
// as it grows, with `tail=N` from there on. Refusals are those of today, but a pod or container
// that is not on the minion is told in the words of its kubelet (upstream: pkg/kubelet/server.go,
// handleContainerLogs).
void get_container_log(rest_services& services, const request& request, responder answer,
                       const std::vector<std::string_view>& parts);

}  // namespace troupe::server::legacy
