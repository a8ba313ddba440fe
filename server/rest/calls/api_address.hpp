// The Service default/kubernetes with its Endpoints and its EndpointSlice, by which programs in the
// cluster find the API (kubernetes: pkg/controlplane/controller/kubernetesservice).
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/control_plane/control_plane.hpp"
#include "server/http/endpoint.hpp"

namespace troupe::server {

// Creates them where they are missing, and writes the address and the port that clients are to
// call. Endpoints are no place for an address that is this machine's alone: of a listener on
// loopback there are none. Where several control planes share the store, the Service alone: the
// others follow from their records (actors/api_servers/). Waits until it is on disk; not from an
// actor. The error says in one line what was refused.
tl::expected<void, std::string> publish_api_address(actors::control_plane& plane,
                                                    const endpoint& at);

}  // namespace troupe::server
