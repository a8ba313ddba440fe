// The rules of a namespace's LimitRanges for a pod or a claim. Pure functions.
//
// kubernetes: plugin/pkg/admission/limitranger.
#pragma once

#include <string>
#include <vector>

#include "api/object/pod_resources.hpp"
#include "api/schema/core_quota.pb.h"

namespace troupe::actors::admission {

// Gives each container the requests and limits that it does not name, and notes on the pod what it
// got. The LimitRange that is asked first decides.
void default_resources(const api::core::v1::LimitRange& range, api::core::v1::Pod& pod);

// The violations of the range, in upstream's words; empty: none.
std::vector<std::string> breaches(const api::core::v1::LimitRange& range,
                                  const api::core::v1::Pod& pod);
// Of the requests of a PersistentVolumeClaim.
std::vector<std::string> claim_breaches(const api::core::v1::LimitRange& range,
                                        const api::resource_list& requests);

}  // namespace troupe::actors::admission
