// /proxy/minions/MINION/containerLogs/NAMESPACE/POD/CONTAINER: `kubectl log` of 0.5 and 0.6
// requests it from the pod's minion through the server. It serves the log of today's API.
#pragma once

#include <string_view>
#include <vector>

#include "server/http/http.hpp"
#include "server/rest/calls/services.hpp"

namespace troupe::server::legacy {

// `parts` are the path segments from "proxy" on. Responds with the log as text; `follow=1` streams
// it, `tail=N` starts N lines before the end. Errors are those of today, except for a pod or
// container that is not on the minion: the error of its kubelet (upstream: pkg/kubelet/server.go,
// handleContainerLogs).
void get_container_log(rest_services& services, const request& request, responder answer,
                       const std::vector<std::string_view>& parts);

}  // namespace troupe::server::legacy
