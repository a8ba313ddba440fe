// Common checks of requests about one container of a pod. Pure except the last.
#pragma once

#include <string>

#include "api/schema/core_pod.pb.h"
#include "server/rest/calls/call.hpp"

namespace troupe::server {

// The requested container; optional for a pod with one container. The error is upstream's 400.
api::expected<std::string> container_named(const api::core::v1::Pod& pod,
                                           const std::string& requested);

// Null if the pod has no status of it yet.
const api::core::v1::ContainerStatus* status_of(const api::core::v1::Pod& pod,
                                                const std::string& container);

// Whether the pod's node is reached by a link.
bool on_joined_node(const call& call, const api::core::v1::Pod& pod);
bool on_joined_node(runtime::actor_system& system, const persistence::snapshot& state,
                    const api::core::v1::Pod& pod);

}  // namespace troupe::server
