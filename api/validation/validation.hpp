// Validates an object before it is stored: the rules of the schema (required, allowed values,
// ranges, syntaxes, one-of, immutable) by reflection, rules across fields by code.
//
// Pure functions of bodies with defaults. They return every error with its field path,
// in the wording of Kubernetes; empty means that the object is valid. For
// api::invalid.
#pragma once

#include <string>
#include <vector>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::api::core::v1 {
class NodeAffinity;
}

namespace troupe::api {

std::vector<error_cause> validate_create(const kind_info& kind, const body& content);

// `now` replaces `was`; both have the identity set by prepare_update (uid, timestamps).
std::vector<error_cause> validate_update(const kind_info& kind, const body& now, const body& was);

// For a write of PLURAL/status: metadata and the few rules of statuses.
std::vector<error_cause> validate_status_update(const kind_info& kind, const body& now,
                                                const body& was);

// For a write of pods/ephemeralcontainers: containers may be added, not changed or removed.
std::vector<error_cause> validate_ephemeral_containers(const body& now, const body& was);
// For a write of pods/resize: cpu and memory of existing containers may change.
std::vector<error_cause> validate_pod_resize(const body& now, const body& was);

// A warning for each finalizer of a custom object that has no path, unless `was` (may be null) has
// it: others may use the same name.
//
// kubernetes: apiextensions-apiserver/pkg/registry/customresource/strategy.go.
std::vector<std::string> finalizer_warnings(const body& now, const body* was);

// A node affinity outside a pod; paths are relative to it.
std::vector<error_cause> validate_node_affinity(const core::v1::NodeAffinity& affinity);

// Messages that are not a kind (DeleteOptions, Scale), by the rules of the schema alone.
std::vector<error_cause> validate_message(const google::protobuf::Message& message);

}  // namespace troupe::api
