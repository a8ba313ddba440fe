// DELETE of one object and of a collection.
#pragma once

#include <string>
#include <string_view>

#include "api/schema/meta_request.pb.h"
#include "server/rest/handlers/change.hpp"

namespace troupe::server {

void delete_object(const call_ptr& call);
// Deletes each object in its own transaction, some concurrently. Responds with the list of deleted
// or marked objects; skips those that others deleted meanwhile. Any other failure is the response.
void delete_collection(const call_ptr& call);

// The proposal of a DELETE of the key; 404 with that name if it no longer exists.
api::expected<proposal> propose_removal(const call_ptr& call, const persistence::snapshot& state,
                                        const std::string& key, std::string_view name,
                                        const api::meta::v1::DeleteOptions& options);

}  // namespace troupe::server
