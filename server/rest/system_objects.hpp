// What every cluster has and nobody creates.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "actors/control_plane.hpp"

namespace troupe::server {

// The namespaces default, kube-system, kube-public and kube-node-lease, and the priority classes
// system-node-critical and system-cluster-critical, where they are missing.
// Waits until they are on disk; not from an actor, nor from the commit thread. The error says in
// one line why they cannot be.
tl::expected<void, std::string> create_system_objects(actors::control_plane& plane);

// Whether it is one of those namespaces: they may not be deleted.
bool is_system_namespace(std::string_view name) noexcept;

}  // namespace troupe::server
