// The objects that every cluster has and no client creates.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/control_plane/control_plane.hpp"

namespace troupe::server {

// The namespaces default, kube-system, kube-public and kube-node-lease, and the priority classes
// system-node-critical and system-cluster-critical, where they are missing; the default roles and
// bindings, and what those that are there lack (actors/access/default_policy.hpp); the APIServices
// of the built-in groups (actors/definitions/api_service_rules.hpp).
// Waits until they are on disk; not from an actor, nor from the commit thread. The error says in
// one line why they cannot be.
tl::expected<void, std::string> create_system_objects(actors::control_plane& plane);

// Where the control plane has an authority, in kube-system: ConfigMap kube-root-ca.crt, from which
// on pods are given access to the API (actors/write/admission/api_access.hpp), and ConfigMap
// extension-apiserver-authentication, by which servers beside the API's own know its clients, and
// this server, whose front proxy has certificates of `front_proxy_authority` (PEM; empty: none).
// Waits and fails as above; the namespaces are there.
tl::expected<void, std::string> publish_authority(actors::control_plane& plane,
                                                  const std::string& front_proxy_authority = {});

// Puts the keys of addresses and node ports right that Services have: those that are missing,
// because the store is older than such keys, and those that nobody has. Waits and fails as above.
tl::expected<void, std::string> repair_service_allocations(actors::control_plane& plane);

// All of these, in this order.
tl::expected<void, std::string> prepare_cluster(actors::control_plane& plane,
                                                const std::string& front_proxy_authority = {});

}  // namespace troupe::server
