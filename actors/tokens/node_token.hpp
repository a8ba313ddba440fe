// The service account tokens that a node may request, over its link and over HTTP. Pure function.
//
// kubernetes: plugin/pkg/admission/noderestriction, with ServiceAccountNodeAudienceRestriction. In
// addition the expiration must match that of a volume.
#pragma once

#include <string_view>

#include "actors/tokens/account_token.hpp"

namespace troupe::actors {

// Allows a token that a projected volume of a pod on the node requests, bound to that pod by uid.
// The result stays valid: a bound pod never changes its node or account.
api::expected<void> may_request_token(const persistence::snapshot& state, std::string_view node,
                                      const token_spec& request);

}  // namespace troupe::actors
