// Server-side apply: PATCH of an object, or of its status, with what one manager wants of it. What
// is not there is created.
#pragma once

#include <memory>

#include "server/rest/handlers/change.hpp"

namespace troupe::server {

bool is_apply_patch(const call& call);
void apply_object(const call_ptr& call);
// Of the number of replicas alone, by the scale of the object.
void apply_scale(const call_ptr& call);

// Who the writer of the call is to the managed fields of the object, where it has any.
std::shared_ptr<const actors::field_tracking> tracking_of(const call& call);

}  // namespace troupe::server
