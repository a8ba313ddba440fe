// DELETE of one object and of a collection.
#pragma once

#include <string>
#include <string_view>

#include "api/schema/meta_request.pb.h"
#include "server/rest/handlers/change.hpp"

namespace troupe::server {

void delete_object(const call_ptr& call);
// Each object by a transaction of its own, some of them at a time. The answer is a list of what was
// deleted or marked; what others deleted meanwhile is passed over, any other failure is the answer.
void delete_collection(const call_ptr& call);

// What a DELETE of that key does; 404 with that name where it is no more.
api::expected<proposal> propose_removal(const call_ptr& call, const persistence::snapshot& state,
                                        const std::string& key, std::string_view name,
                                        const api::meta::v1::DeleteOptions& options);

}  // namespace troupe::server
