// Reviews: the identity of the client, the permission of a request, the owner of a token. Answered
// at once, never stored.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

// True for the review kinds below.
bool is_review(const api::kind_info& kind);
// POST of selfsubjectreviews, selfsubjectaccessreviews, selfsubjectrulesreviews,
// subjectaccessreviews, localsubjectaccessreviews and tokenreviews.
void create_review(const call_ptr& call);

}  // namespace troupe::server
