// Subresources that are no part of their object: scale, binding, eviction,
// streams.
#pragma once

#include "server/rest/handlers/change.hpp"

namespace troupe::server {

// GET, PUT and PATCH of PLURAL/NAME/scale (autoscaling/v1 Scale).
void get_scale(const call_ptr& call);
void update_scale(const call_ptr& call);
void patch_scale(const call_ptr& call);
const api::kind_info& scale_kind();
void answer_scale(const call_ptr& call, const api::object_ptr& object);
// The scaled object with the number that `scale` demands.
api::expected<proposal> propose_scale(const call_ptr& call, const api::object_ptr& was,
                                      const api::body& scale);

// POST of pods/NAME/binding and of bindings.
void create_binding(const call_ptr& call);
// POST of pods/NAME/eviction. Nothing forbids one yet: there are no disruption budgets.
void create_eviction(const call_ptr& call);

}  // namespace troupe::server
