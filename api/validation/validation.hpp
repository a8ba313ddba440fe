// Whether an object may be stored: the rules of the schema (required, allowed values, ranges,
// syntaxes, one-of, immutable) by reflection, and by code what is not one field's matter.
//
// Pure functions of bodies that have their defaults. They answer every fault with the path of its
// field, in the words of Kubernetes; an empty answer means that the object is fine. For
// api::invalid.
#pragma once

#include <vector>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::api::core::v1 {
class NodeAffinity;
}

namespace troupe::api {

std::vector<error_cause> validate_create(const kind_info& kind, const body& content);

// `now` replaces `was`; both carry the identity that prepare_update gave (uid, timestamps).
std::vector<error_cause> validate_update(const kind_info& kind, const body& now, const body& was);

// A write of PLURAL/status: metadata and the little that is known of statuses.
std::vector<error_cause> validate_status_update(const kind_info& kind, const body& now,
                                                const body& was);

// A write of pods/ephemeralcontainers: containers may be added, none changed nor removed.
std::vector<error_cause> validate_ephemeral_containers(const body& now, const body& was);
// A write of pods/resize: cpu and memory of containers that stay may change.
std::vector<error_cause> validate_pod_resize(const body& now, const body& was);

// A node affinity that stands in no pod; paths begin at its own fields.
std::vector<error_cause> validate_node_affinity(const core::v1::NodeAffinity& affinity);

// Messages that are no kind, by the rules of the schema alone (DeleteOptions, Scale).
std::vector<error_cause> validate_message(const google::protobuf::Message& message);

}  // namespace troupe::api
