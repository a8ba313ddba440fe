// Whether autoscaling/v1 can store an autoscaler.
#pragma once

#include "api/schema/autoscaling_v2.pb.h"

namespace troupe::api {

// Whether the object in autoscaling/v1 with upstream's annotations is read as the same object.
// False for targets of another type than upstream derives from their values, for a cpu utilization
// that is not the last metric, and for other metrics without values that v1 always has.
bool fits_autoscaling_v1(const autoscaling::v2::HorizontalPodAutoscaler& autoscaler);

}  // namespace troupe::api
