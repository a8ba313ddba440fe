// The Service default/kubernetes with its Endpoints and EndpointSlice, by which programs in the
// cluster find the API (kubernetes: pkg/controlplane/controller/kubernetesservice).
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/control_plane/control_plane.hpp"
#include "server/http/endpoint.hpp"

namespace troupe::server {

// Creates missing objects, and writes the address and port for clients. A loopback
// listener gets no Endpoints, because its address is valid on this machine only, whose
// rules lead to it without them (node_network_options::loopback_api_port). If
// several control planes share the store, writes only the Service: the others follow from
// their records (actors/api_servers/). Waits until it is on disk; not for actors. The
// error is one line.
tl::expected<void, std::string> publish_api_address(actors::control_plane& plane,
                                                    const endpoint& at);

}  // namespace troupe::server
