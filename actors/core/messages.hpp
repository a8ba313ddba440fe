// The messages between the actors of the control plane and of the nodes.
//
// All state changes go through the writer, and the watcher publishes every change. All other actors
// talk only to these two and to their own supervisor, so each of them can crash at any moment and
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

// A request, answered by `commit_done`. The transaction is moved out, so send the message only
// once. If the transaction has no cause the writer sets the cause of the message.
struct commit {
  std::shared_ptr<persistence::transaction> transaction;
};

struct commit_done {
  persistence::outcome result;
};

// A request, answered by `barrier_done` once the store shows everything that was sent to this
// writer before, and everything that any writer of the cluster committed before (store::barrier).
// An actor that restarts and reads the store afterwards sees its own earlier writes.
struct barrier {};

struct barrier_done {
  persistence::expected<revision> reached;
};

// Assigns an unbound pod to a node: sets spec.nodeName and the condition PodScheduled. Fails if the
// pod was deleted, has another uid, is being deleted or is already assigned. Answered by
// `command_done`.
struct bind {
  std::string pod_key;
  std::string pod_uid;  // empty: any
  std::string node;
  persistence::change_cause cause = {};  // as in `commit`
};

// Starts the graceful deletion of a pod like a client's DELETE. Answered by `command_done`.
struct evict {
  std::string pod_key;
  std::string pod_uid = {};         // empty: any
  std::int64_t grace_seconds = -1;  // negative: the pod's own
  // The reason of the condition DisruptionTarget, e.g. "DeletionByTaintManager"; empty: not set.
  std::string reason = {};
  std::string message = {};
  persistence::change_cause cause = {};  // as in `commit`
};

// Deletes an object of any kind like a client's DELETE: pods get their grace period, finalizers are
// respected. If the object is already being deleted only its grace period may shrink. Answered by
// `command_done`: 404 if the object does not exist, 409 if its uid differs.
struct remove {
  std::string key;
  std::string uid = {};             // empty: any
  revision at = 0;                  // 0: any; otherwise 409 if the object's revision differs
  std::int64_t grace_seconds = -1;  // negative: the object's own
  // "Background", "Foreground", "Orphan"; empty: the default of the kind.
  std::string propagation = {};
  persistence::change_cause cause = {};  // as in `commit`
};

// The object as stored at the commit, or an error in the form of the API.
struct command_done {
  api::expected<api::object_ptr> result;
};

// -- between the store, the watcher and its subscribers -----------------------------------------

// Sent by the commit thread: a batch is committed and visible. It follows the batch that ended with
// revision `after`.
struct committed {
  revision after = 0;
  persistence::change_batch changes;
};

// Returns true if the subscriber wants the object. Called on the watcher's thread; must be pure.
using object_filter = std::function<bool(const api::object&)>;

// Starts a stream of `watch_events` to the sender. A second message with the same id replaces the
// first stream. `informer` (informer.hpp) subscribes for an actor and resubscribes after a crash of
// the watcher.
struct subscribe {
  std::uint64_t id = 0;       // chosen by the subscriber, unique to it
  std::string prefix;         // key prefix: a kind, a namespace, or one key without '/'
  object_filter accept = {};  // empty: all
  // Only pods bound to this node; empty: all. Pods of other nodes cost the watcher nothing.
  std::string on_node = {};
  // The last revision that the subscriber has seen; the stream starts with later changes. 0: the
  // stream starts with the current state as `added` events, then `synced`.
  revision after = 0;
  // The number of events that may be in flight before the subscriber sends `more`. Events of one
  // revision stay together, so the last message may exceed the credit.
  std::uint32_t credit = 1'000;
  // Sends a bookmark each `defaults::bookmark_period`, so that an idle stream can be resumed.
  bool bookmarks = false;
};

// Grants credit. A credit of 0 checks that the stream exists: the watcher answers `watch_ended` if
// it does not know the stream.
struct more {
  std::uint64_t id = 0;
  std::uint32_t credit = 0;
};

// Requests a bookmark now (before a client's deadline). None is sent without credit or while older
// events are pending.
struct bookmark_now {
  std::uint64_t id = 0;
};

// Idempotent; no message follows once it is handled.
struct unsubscribe {
  std::uint64_t id = 0;
};

// Events in order of revision, all events of one revision together. `up_to`: all matching events up
// to this revision have been sent; 0 until the initial state is complete.
struct watch_events {
  std::uint64_t id = 0;
  revision up_to = 0;
  bool synced = false;  // set in the last part of the initial state and in all later messages
  event_list events;    // shared by all subscribers that receive the same events
};

// The stream has ended. `compacted`: its revision was compacted, subscribe again from 0. Any other
// error: the watcher does not know the stream, subscribe again from the last `up_to`.
struct watch_ended {
  std::uint64_t id = 0;
  persistence::error reason;
};

// -- to the event recorder ----------------------------------------------------------------------

// Recorded as a v1 Event. Equal events are aggregated, and the rate for each object is limited.
struct record_event {
  api::object_ptr about;
  bool warning = false;
  std::string reason;  // CamelCase
  std::string message;
  std::string component;        // reporting component, e.g. "replication-controller"
  std::string field_path = {};  // involvedObject.fieldPath, e.g. "spec.containers{web}"
  std::string host = {};
  runtime::duration ago{0};  // age of the event if it could not be sent at once
};

// -- to the scheduler ---------------------------------------------------------------------------

// Sent by a pod's actor: the pod needs a node.
struct schedule {
  api::object_ptr pod;
};

// Sent by a pod's actor: the pod needs no node (deleted, or bound by another scheduler).
struct unschedule {
  std::string pod_key;
};

// -- from a supervisor to its children ----------------------------------------------------------

// The child's own object has changed; `gone`: it was deleted.
struct owner_event {
  api::object_ptr object;
  revision at = 0;
  bool gone = false;
};

// A dependent of the child's object (a controller's pod, a pod's node) has changed.
struct dependent_event {
  watch_event event;
};

}  // namespace troupe::actors
