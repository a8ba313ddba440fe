// GET of one object and of a collection, straight from a snapshot of the store on the thread of the
// connection; where the store has other writers, behind a barrier where the client wants the newest
// state.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

// The page of the objects that the options choose, from the state that they mean. A page that
// others may follow keeps that state.
api::expected<list_page> read_page(const call& call, const list_options& options);

// A list as the call wants it, in the shape of its kind.
void answer_list(const call_ptr& call, list_page page);

void get_object(const call_ptr& call);
void list_objects(const call_ptr& call);
// A watch of a collection, or of one object by its name.
void watch_objects(const call_ptr& call);

}  // namespace troupe::server
