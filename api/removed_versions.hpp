// API versions that Kubernetes removed in 1.25 and that components of 1.20 still need: CronJob of
// batch/v1beta1, EndpointSlice of discovery.k8s.io/v1beta1, PodDisruptionBudget of policy/v1beta1.
// Each presents the objects of v1 (conversion/removed_shapes.hpp). They are served only on demand:
// clients that look for the newest version of 1.33 must not find them.
#pragma once

#include <span>
#include <string_view>

#include "api/fwd.hpp"

namespace troupe::api {

// Their body types. They are known to scheme::find(type) in any case.
std::span<const google::protobuf::Descriptor* const> removed_versions();

// The kind of one of them, served or not; null: there is no such version. For references that
// components of old releases have written.
const kind_info* find_removed_version(std::string_view api_version, std::string_view kind);

// Adds them to the kinds that the scheme serves; before the first use of the scheme, which reads
// the schema once.
void serve_removed_versions();
// Asked by the scheme; the answer does not change any more.
bool are_removed_versions_served();

}  // namespace troupe::api
