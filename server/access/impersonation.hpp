// For whom a user asks to be taken: Impersonate-User, -Uid, -Group and -Extra-KEY, by upstream's
// rules (apiserver/pkg/endpoints/filters/impersonation). Pure.
#pragma once

#include "api/error.hpp"
#include "server/access/authorization.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

// Null where the headers name nobody. Every part needs leave of its own: the verb "impersonate" of
// users or serviceaccounts, groups, uids and userextras; 403 where `by` lacks it. 400 for groups, a
// uid or extras without a user.
api::expected<user_ptr> impersonated(const header_block& headers, const user_info& by,
                                     const authorization& may);

}  // namespace troupe::server
