// Server-side apply: PATCH of an object, or of its status, with the fields of one manager. Creates
// an absent object.
#pragma once

#include <memory>

#include "server/rest/handlers/change.hpp"

namespace troupe::server {

bool is_apply_patch(const call& call);
void apply_object(const call_ptr& call);
// The same for the replica count only, through the object's scale.
void apply_scale(const call_ptr& call);

// The field manager of the call, if the object has managed fields.
std::shared_ptr<const actors::field_tracking> tracking_of(const call& call);

}  // namespace troupe::server
