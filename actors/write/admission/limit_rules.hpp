// The rules of a namespace's LimitRanges for a pod or a claim. Pure functions.
//
// kubernetes: plugin/pkg/admission/limitranger.
#pragma once

#include <string>
#include <vector>

#include "api/object/pod_resources.hpp"
#include "api/schema/core_quota.pb.h"

namespace troupe::actors::admission {

// Adds missing requests and limits to each container and records them in an annotation of the pod.
// The first LimitRange that sets a value wins.
void default_resources(const api::core::v1::LimitRange& range, api::core::v1::Pod& pod);

// Violations of the range, in upstream's wording; empty: none.
std::vector<std::string> limit_violations(const api::core::v1::LimitRange& range,
                                          const api::core::v1::Pod& pod);
// For the requests of a PersistentVolumeClaim.
std::vector<std::string> claim_violations(const api::core::v1::LimitRange& range,
                                          const api::resource_list& requests);

}  // namespace troupe::actors::admission
