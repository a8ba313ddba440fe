// Which tokens of service accounts a node may ask for, by its link and over HTTP. Pure.
//
// kubernetes: plugin/pkg/admission/noderestriction, with ServiceAccountNodeAudienceRestriction.
// Beyond it the life of the token must be one that a volume asks for, too.
#pragma once

#include <string_view>

#include "actors/tokens/account_token.hpp"

namespace troupe::actors {

// A token that a projected volume of a pod of the node asks for, bound to that pod by its uid. What
// is allowed stays right: neither the node of a bound pod nor its account ever changes.
api::expected<void> may_request_token(const persistence::snapshot& state, std::string_view node,
                                      const token_order& order);

}  // namespace troupe::actors
