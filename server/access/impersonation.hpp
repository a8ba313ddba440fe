// Impersonation: Impersonate-User, -Uid, -Group and -Extra-KEY, by upstream's rules
// (apiserver/pkg/endpoints/filters/impersonation). Pure.
#pragma once

#include "api/error.hpp"
#include "server/access/authorization.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

// Null without these headers. Each part needs its own permission: the verb "impersonate" on users
// or serviceaccounts, groups, uids and userextras; 403 if `by` lacks it. 400 for groups, a uid or
// extras without a user.
api::expected<user_ptr> impersonated(const header_block& headers, const user_info& by,
                                     const authorization& may);

}  // namespace troupe::server
