// Service account tokens: issues one for a client, reviews tokens, and serves the documents by
// which other servers verify them.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::api::authentication::v1 {
class TokenReview;
}

namespace troupe::server {

// POST serviceaccounts/NAME/token.
void create_token(const call_ptr& call);

// POST tokenreviews: fills in the status (reviews.hpp).
api::expected<void> review_token(const call& call, api::authentication::v1::TokenReview& review);

// GET /.well-known/openid-configuration and /openid/v1/jwks; 404 if no tokens are issued.
void get_issuer_configuration(const call_ptr& call);
void get_issuer_keys(const call_ptr& call);

}  // namespace troupe::server
