// Reviews: who a client is, whether a request would be allowed, whose a token is.
// Answered at once, never stored.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

// True for the kinds below.
bool is_review(const api::kind_info& kind);
// POST of selfsubjectreviews, selfsubjectaccessreviews, selfsubjectrulesreviews,
// subjectaccessreviews, localsubjectaccessreviews and tokenreviews.
void create_review(const call_ptr& call);

}  // namespace troupe::server
