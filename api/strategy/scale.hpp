// The one number of everything that can be scaled, as autoscaling/v1 Scale (PLURAL/scale).
#pragma once

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/schema/autoscaling_v1.pb.h"

namespace troupe::api {

// Of a kind with has_scale.
autoscaling::v1::Scale scale_of(const body& content);

// Sets the number of replicas; nothing else of `scale` counts.
void set_scale(body& content, const autoscaling::v1::Scale& scale);

}  // namespace troupe::api
