// Writes of clients: proposed here, executed by the write service, answered on the connection's
// thread.
#pragma once

#include <functional>

#include "actors/write/write_service.hpp"
#include "api/error.hpp"
#include "server/rest/calls/call.hpp"

namespace troupe::server {

using actors::proposal;
using actors::write_result;

// Called again for each attempt, on another thread.
using proposer = std::function<api::expected<proposal>(const persistence::snapshot& state)>;
using change_done = std::function<void(const write_result& result)>;
using change_failed = std::function<void(const api::error& error)>;

// For callers that may be notified on the commit thread; the caller must set `done`.
actors::write_request request_of(const call& call, bool dry_run, proposer propose);

// Calls one of the two once, possibly before it returns; after a commit on the connection's thread.
// A dry run stops before the commit and returns the result that it would have had.
void carry_out(const call_ptr& call, bool dry_run, proposer propose, change_done done,
               change_failed failed);
// The same; a failure is the response.
void carry_out(const call_ptr& call, bool dry_run, proposer propose, change_done done);
// The same; the object is the response.
void carry_out(const call_ptr& call, bool dry_run, proposer propose);

// The current time for checks of the write.
runtime::wall_time wall_now(const call& call);

}  // namespace troupe::server
