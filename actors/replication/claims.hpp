// Whose pod is it? The rules by which a controller keeps, adopts, releases or leaves alone a pod
// (kubernetes: controller.BaseControllerRefManager.ClaimObject). Pure.
#pragma once

#include "actors/replication/replica_owner.hpp"
#include "api/object.hpp"

namespace troupe::actors::replication {

enum class claim {
  ignore,   // another controller's, or nothing to do with this one
  keep,     // ours
  adopt,    // nobody's, and our selector matches: take it
  release,  // ours, but its labels no longer match: let it go
};

claim judge(const replica_owner& owner, const api::object& pod);

}  // namespace troupe::actors::replication
