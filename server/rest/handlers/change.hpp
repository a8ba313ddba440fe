// Writes: planned from a snapshot, committed, planned again when somebody else was faster.
#pragma once

#include <functional>

#include "api/error.hpp"
#include "persistence/store/store.hpp"
#include "server/rest/calls/call.hpp"

namespace troupe::server {

// The change of the store by a request, planned from one state of it.
struct change_plan {
  // The object that the request is about is changed first. Empty: nothing to change.
  persistence::transaction transaction;
  // The object before; what is answered where nothing changes.
  api::object_ptr before;
  // Answered instead of the committed object, where that is not what the client wrote: an update
  // that ends a deletion.
  api::object_ptr shown;
  int status = 200;
};

// Called again for each attempt, on another thread; it must give up (409) by itself where the
// client demands a revision that has passed.
using planner = std::function<api::expected<change_plan>(const persistence::snapshot& state)>;

struct change_result {
  api::object_ptr object;
  int status = 200;
  bool removed = false;  // the object is no more
};
using change_done = std::function<void(const change_result& result)>;
using change_failed = std::function<void(const api::error& error)>;

// Either is called once, perhaps before this returns. A dry run stops before the commit and shows
// what it would have been.
void carry_out(const call_ptr& call, bool dry_run, planner plan, change_done done,
               change_failed failed);
// The same; a failure is the answer.
void carry_out(const call_ptr& call, bool dry_run, planner plan, change_done done);
// The same; the object is the answer.
void carry_out(const call_ptr& call, bool dry_run, planner plan);

}  // namespace troupe::server
