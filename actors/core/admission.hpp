// What the control plane demands of an object before it is created, and what it fills in, besides
// the rules of the object's own kind: the same for clients' requests and for controllers' pods.
// Pure functions of a snapshot.
#pragma once

#include <vector>

#include "api/error.hpp"
#include "api/object/object.hpp"
#include "persistence/store/store.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors {

// The preconditions under which the creation may be committed: the namespace is the very one that
// was looked at, so nothing slips into it after its termination began. A conflict on such a key
// means "look again", not that the object exists.
//
// Fills in of pods: serviceAccountName, the tolerations of NoExecute taints (300 s; kubernetes:
// plugin/pkg/admission/defaulttolerationseconds), priority from the PriorityClass.
//
// Errors: 404 for a namespace that does not exist, 403 with cause NamespaceTerminating, 403 for an
// unknown PriorityClass or another priority than its own, 403 for an unknown ServiceAccount, those
// of admit_write; worded as upstream.
api::expected<std::vector<persistence::precondition>> admit_create(
    const persistence::snapshot& state, const api::kind_info& kind, api::body& content);

// The part of it that holds for updates, too: 403 for a second default PriorityClass.
api::expected<void> admit_write(const persistence::snapshot& state, const api::kind_info& kind,
                                const api::body& content);

}  // namespace troupe::actors
