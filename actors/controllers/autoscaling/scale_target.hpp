// Reads an autoscaler's scale target from the store. Pure functions of a snapshot.
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

// Finds the kind in the given version, or else in any version of the group; null if unknown.
api::kind_handle find_kind(const std::string& api_version, std::string_view group,
                           const std::string& kind);

// Finds a target of any kind with a scale, in any version of the reference's group. Errors are
// those that upstream's controller gets from its mapper and from the API.
result<scale_target> find_target(const persistence::snapshot& state,
                                 const api::autoscaling::v2::HorizontalPodAutoscaler& autoscaler);

// The pods of a namespace that match the selector of a scale; none if the selector is invalid.
std::vector<api::object_ptr> pods_of(const persistence::snapshot& state, const std::string& ns,
                                     const api::autoscaling::v1::Scale& scale);

// The autoscalers of the namespace whose targets select one of these pods; names, sorted.
std::vector<std::string> autoscalers_of(const persistence::snapshot& state, const std::string& ns,
                                        const std::vector<api::object_ptr>& pods);

}  // namespace troupe::actors::autoscaling
