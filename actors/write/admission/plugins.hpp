// The built-in admission plugins: one file each, and a line in registry.cpp.
#pragma once

#include <memory>

#include "actors/write/admission/plugin.hpp"

namespace troupe::actors::admission {

using plugin_ptr = std::shared_ptr<const plugin>;

// A namespaced object needs its namespace, and that it does not end: 404, 403 with the cause
// NamespaceTerminating. The write may be committed as long as the namespace is what was looked at,
// so nothing gets into it after its termination began. The namespaces of the system stay: 403.
plugin_ptr make_namespace_lifecycle();
// An object of a custom kind is created while its definition stands: 403 once that is to be
// deleted.
plugin_ptr make_definition_lifecycle();
// A container of a new pod gets the requests and limits that the LimitRanges of its namespace give
// to who names none; then pods and claims are held to them: 403 with all that is wrong.
plugin_ptr make_limit_ranger();
// A pod runs as some account, by default as "default": 403 where there is none of that name. It is
// given a token of it unless pod or account say otherwise, and the account's imagePullSecrets where
// it has none (api_access.hpp).
plugin_ptr make_service_account();
// A pod gets the number and the policy of its priority class: 403 for an unknown one and for other
// values than its own. One class alone is the default one; those of the system stay.
plugin_ptr make_priority();
// A container is added to a running pod (kubectl debug) only where the node's runtime can start it:
// 403 where it runs processes or simulates.
plugin_ptr make_ephemeral_containers();
// A pod stays for 300 s on a node that is not ready or cannot be reached.
plugin_ptr make_default_toleration_seconds();
// Nobody gives away more than they have: who writes a role needs every rule of it, or the verb
// "escalate" of the role; who writes a binding needs every rule of its role, or the verb "bind" of
// that role: 403. An aggregationRule needs everything. Masters and controllers may.
plugin_ptr make_rbac_escalation();
// A pod names what the quotas of its namespace bound: 403 where a container does not.
plugin_ptr make_resource_quota();
// A request for a certificate says who asks: its author cannot say it himself.
plugin_ptr make_certificate_subject();

}  // namespace troupe::actors::admission
