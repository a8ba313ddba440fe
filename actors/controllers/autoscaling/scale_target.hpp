// What an autoscaler scales, as the store has it. Pure functions of a snapshot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/controllers/autoscaling/replica_count.hpp"
#include "api/kind.hpp"
#include "api/schema/autoscaling_v1.pb.h"
#include "api/schema/autoscaling_v2.pb.h"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors::autoscaling {

struct scale_target {
  api::object_ptr object;
  api::autoscaling::v1::Scale scale;
};

// In the version that is named, or any other of the group; null where there is none.
api::kind_handle find_kind(const std::string& api_version, std::string_view group,
                           const std::string& kind);

// Of any kind with a scale, whatever version of its group the reference names. Errors as upstream's
// controller gets them from its mapper and from the API.
result<scale_target> find_target(const persistence::snapshot& state,
                                 const api::autoscaling::v2::HorizontalPodAutoscaler& autoscaler);

// The pods of a namespace that the selector of a scale matches; none for one that makes no sense.
std::vector<api::object_ptr> pods_of(const persistence::snapshot& state, const std::string& ns,
                                     const api::autoscaling::v1::Scale& scale);

// The autoscalers of the namespace whose targets select one of these pods, by name, in order.
std::vector<std::string> autoscalers_of(const persistence::snapshot& state, const std::string& ns,
                                        const std::vector<api::object_ptr>& pods);

}  // namespace troupe::actors::autoscaling
