// The one number of everything that can be scaled, as autoscaling/v1 Scale (PLURAL/scale).
#pragma once

#include <string>
#include <vector>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/schema/autoscaling_v1.pb.h"

namespace troupe::api {

// Of a kind with has_scale. An object of a custom kind may lack the number: 500, as upstream.
expected<autoscaling::v1::Scale> scale_of(const kind_info& kind, const body& content);

// The steps to the number of replicas in an object of the kind.
std::vector<std::string> replicas_path(const kind_info& kind);

// Sets the number of replicas; nothing else of `scale` counts. 500 where a custom object has no
// place for it.
expected<void> set_scale(const kind_info& kind, body& content, const autoscaling::v1::Scale& scale);

}  // namespace troupe::api
