// The messages between the actors of the control plane and of the nodes.
//
// The writer takes every change of state, the watcher gives every record of change. All other
// actors talk to those two and to their own supervisor. So each of them can crash at any moment and
// is rebuilt from the store (law 2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/core/event_list.hpp"
#include "api/error.hpp"
#include "api/object/object.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor_ref.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

using persistence::revision;

// -- to the writer ------------------------------------------------------------------------------

// A request; answered by `commit_done`. The transaction is moved out: send it once. Where its
// cause is empty the writer fills in the cause of the message.
struct commit {
  std::shared_ptr<persistence::transaction> transaction;
};

struct commit_done {
  persistence::outcome result;
};

// A request, answered by `barrier_done` when the store shows all that this writer was sent before
// by anybody, and all that any writer of the cluster had committed before (store::barrier). A
// restarted actor that reads the store after it sees its own earlier writes.
struct barrier {};

struct barrier_done {
  persistence::expected<revision> reached;
};

// Puts an unbound pod on a node: sets spec.nodeName and the condition PodScheduled. Refused when
// the pod has gone, is another (uid), is being deleted or is already assigned. Answered by
// `command_done`.
struct bind {
  std::string pod_key;
  std::string pod_uid;  // empty: any
  std::string node;
  persistence::change_cause cause = {};  // as in `commit`
};

// Begins the graceful deletion of a pod, as a DELETE by a client would. Answered by `command_done`.
struct evict {
  std::string pod_key;
  std::string pod_uid = {};         // empty: any
  std::int64_t grace_seconds = -1;  // below 0: the pod's own
  // Of the condition DisruptionTarget, e.g. "DeletionByTaintManager"; no condition when empty.
  std::string reason = {};
  std::string message = {};
  persistence::change_cause cause = {};  // as in `commit`
};

// Deletes an object of any kind as a DELETE by a client would: pods get their grace, finalizers are
// waited for. An object that is being deleted already is left as it is (or gets less grace).
// Answered by `command_done`; 404 when it has gone, 409 when it is another one.
struct remove {
  std::string key;
  std::string uid = {};             // empty: any
  revision at = 0;                  // 0: any; otherwise 409 when it has changed since
  std::int64_t grace_seconds = -1;  // below 0: the object's own
  // "Background", "Foreground", "Orphan"; empty: the default of the kind.
  std::string propagation = {};
  persistence::change_cause cause = {};  // as in `commit`
};

// An object that the store had at `at`; an error as the API would word it.
struct command_done {
  api::expected<api::object_ptr> result;
};

// -- between the store, the watcher and its subscribers -----------------------------------------

// From the commit thread: a batch is committed and visible. It continues the one that ended with
// revision `after`.
struct committed {
  revision after = 0;
  persistence::change_batch changes;
};

// True when the subscriber wants to see that object. Called on the watcher's thread; must be pure.
using object_filter = std::function<bool(const api::object&)>;

// Begins a stream of `watch_events` to the sender. Sent once for each id; a second one replaces the
// first. `informer` (informer.hpp) does this for an actor, and finds the watcher again after a
// crash.
struct subscribe {
  std::uint64_t id = 0;  // chosen by the subscriber, unique to it
  std::string prefix;    // keys that begin with it: one kind, one namespace, or one key and no '/'
  object_filter accept = {};  // empty: all
  // Only pods bound to this node; empty: all. The pods of other nodes cost the watcher nothing.
  std::string on_node = {};
  // The last revision that the subscriber has seen: later changes follow. 0: the current state
  // comes first, as `added` events, then `synced`.
  revision after = 0;
  // Events that may be under way before the subscriber says `more`. All events of one revision go
  // together, so the last message may exceed it.
  std::uint32_t credit = 1'000;
  // Bookmarks each `defaults::bookmark_period`, so that an idle stream can be resumed.
  bool bookmarks = false;
};

// Gives credit. With a credit of 0 it asks whether the stream still stands: where the watcher does
// not know it (any more), `watch_ended` comes back.
struct more {
  std::uint64_t id = 0;
  std::uint32_t credit = 0;
};

// Asks for a bookmark now (before a client's deadline). Without credit, or while older events are
// still on their way, none comes.
struct bookmark_now {
  std::uint64_t id = 0;
};

// Idempotent; nothing is sent after it is handled.
struct unsubscribe {
  std::uint64_t id = 0;
};

// In order of revision, all events of one revision together. `up_to`: everything up to here that
// the filter lets through has been sent; 0 while the initial state is not complete.
struct watch_events {
  std::uint64_t id = 0;
  revision up_to = 0;
  bool synced = false;  // with the last part of the initial state, and from then on
  event_list events;    // shared by all subscribers that see the same
};

// The stream cannot go on. `compacted`: its revision has gone, subscribe again from 0. Anything
// else: the watcher does not know the stream, subscribe again from the last `up_to`.
struct watch_ended {
  std::uint64_t id = 0;
  persistence::error reason;
};

// -- to the event recorder ----------------------------------------------------------------------

// Becomes a v1 Event; equal ones are counted up, and each object may have only so many.
struct record_event {
  api::object_ptr about;
  bool warning = false;
  std::string reason;  // CamelCase
  std::string message;
  std::string component;        // reporting component, e.g. "replication-controller"
  std::string field_path = {};  // involvedObject.fieldPath, e.g. "spec.containers{web}"
  std::string host = {};
  runtime::duration ago{0};  // not 0 when it could not be sent at once
};

// -- to the scheduler ---------------------------------------------------------------------------

// From a pod's actor: this pod needs a node.
struct schedule {
  api::object_ptr pod;
};

// From a pod's actor: it no longer needs one (deleted, or bound by another scheduler).
struct unschedule {
  std::string pod_key;
};

// -- from a supervisor to its children ----------------------------------------------------------

// The actor's own object has changed; `gone` when it was removed.
struct owner_event {
  api::object_ptr object;
  revision at = 0;
  bool gone = false;
};

// An object that the actor looks after (a controller's pod, a pod's node) has changed.
struct dependent_event {
  watch_event event;
};

}  // namespace troupe::actors
