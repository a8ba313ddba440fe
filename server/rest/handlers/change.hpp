// Writes of clients: proposed here, carried out by the write service, answered on the thread of the
// connection.
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

// For those who are told on the commit thread; `done` is still to be given.
actors::write_request request_of(const call& call, bool dry_run, proposer propose);

// Either is called once, perhaps before this returns; after a commit on the thread of the
// connection. A dry run stops before the commit and shows what it would have been.
void carry_out(const call_ptr& call, bool dry_run, proposer propose, change_done done,
               change_failed failed);
// The same; a failure is the answer.
void carry_out(const call_ptr& call, bool dry_run, proposer propose, change_done done);
// The same; the object is the answer.
void carry_out(const call_ptr& call, bool dry_run, proposer propose);

// The time by which a write is judged.
runtime::wall_time wall_now(const call& call);

}  // namespace troupe::server
