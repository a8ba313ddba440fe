// Subresources with their own objects: scale, binding, eviction,
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
// The scaled object with the replica count of `scale`.
api::expected<proposal> propose_scale(const call_ptr& call, const api::object_ptr& was,
                                      const api::body& scale);

// POST of pods/NAME/binding and of bindings.
void create_binding(const call_ptr& call);
// POST of pods/NAME/eviction; disruption budgets may refuse it with 429 (propose_eviction).
void create_eviction(const call_ptr& call);

}  // namespace troupe::server
