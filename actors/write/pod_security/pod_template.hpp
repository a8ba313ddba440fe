// The template of the pods that an object makes. Pure function.
//
// kubernetes: pod-security-admission/admission, DefaultPodSpecExtractor.
#pragma once

#include "api/kind.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::pod_security {

// Whether objects of the kind hold one.
bool has_pod_template(const api::kind_info& kind);
// Null: of another kind, or the object has none.
const api::core::v1::PodTemplateSpec* pod_template_of(const api::kind_info& kind,
                                                      const api::body& object);

}  // namespace troupe::actors::pod_security
