// GET of one object and of a collection, straight from a snapshot of the store on the thread of the
// connection.
#pragma once

#include "server/rest/call.hpp"

namespace troupe::server {

// The page of the objects that the options choose, from the state that they mean. A page that
// others may follow keeps that state.
api::expected<list_page> read_page(const call& what, const list_options& options);

void get_object(const call_ptr& what);
void list_objects(const call_ptr& what);
// A watch of a collection, or of one object by its name.
void watch_objects(const call_ptr& what);

}  // namespace troupe::server
