// GET of one object and of a collection from a snapshot of the store, on the connection's
// thread; if the store has other writers and the client wants the newest state, after a
// barrier.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

// The page of objects selected by the options, from the state that they request. Pins that state if
// more pages may follow.
api::expected<list_page> read_page(const call& call, const list_options& options);

// Responds with the list in the call's form, in the shape of its kind.
void answer_list(const call_ptr& call, list_page page);

// Runs the handler on the cluster's newest state: if the store has other writers, after a barrier,
// unless the client requests a revision that is here.
void at_newest(const call_ptr& call, void (*handler)(const call_ptr& call));

void get_object(const call_ptr& call);
void list_objects(const call_ptr& call);
// A watch of a collection, or of one object by its name.
void watch_objects(const call_ptr& call);

}  // namespace troupe::server
