// The objects that every cluster has without a client creating them.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/control_plane/control_plane.hpp"

namespace troupe::server {

// Creates the namespaces default, kube-system, kube-public and kube-node-lease, and the priority
// classes system-node-critical and system-cluster-critical, if they are missing; creates the
// default roles and bindings, and adds missing rules to existing ones
// (actors/access/default_policy.hpp); creates the APIServices of the built-in groups
// (actors/definitions/api_service_rules.hpp). Waits until they are on disk; not for actors or the
// commit thread. False: the roles, bindings and APIServices could not be written. The error is one
// line.
tl::expected<bool, std::string> create_system_objects(actors::control_plane& plane);

// If the control plane has an authority, writes to kube-system: ConfigMap kube-root-ca.crt, after
// which pods get access to the API (actors/write/admission/api_access.hpp), and ConfigMap
// extension-apiserver-authentication, by which aggregated servers authenticate clients and this
// server, whose front proxy uses the authority `front_proxy_authority` (PEM; empty: none). Waits
// and fails as above; the namespaces must exist.
tl::expected<void, std::string> publish_authority(actors::control_plane& plane,
                                                  const std::string& front_proxy_authority = {});

// Repairs the keys of addresses and node ports allocated to Services: adds missing ones (the store
// is older than these keys) and removes unused ones. Waits and fails as above.
tl::expected<void, std::string> repair_service_allocations(actors::control_plane& plane);

// All of the above, in this order; returns what create_system_objects() returns.
tl::expected<bool, std::string> prepare_cluster(actors::control_plane& plane,
                                                const std::string& front_proxy_authority = {});

}  // namespace troupe::server
