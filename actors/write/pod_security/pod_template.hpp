// Finds the pod template of an object. Pure functions.
//
// kubernetes: pod-security-admission/admission, DefaultPodSpecExtractor.
#pragma once

#include "api/kind.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::pod_security {

// True if objects of the kind have a pod template.
bool has_pod_template(const api::kind_info& kind);
// Returns null for other kinds and for an object without a template.
const api::core::v1::PodTemplateSpec* pod_template_of(const api::kind_info& kind,
                                                      const api::body& object);

}  // namespace troupe::actors::pod_security
