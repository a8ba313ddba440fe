// The store of a cluster, and the only way to change its state.
//
// A transaction is checked and applied atomically, at one revision: a 64-bit counter of the cluster
// that clients see as resourceVersion. It is acknowledged when it is durable. Thread safe: a reader
// takes a snapshot, which is cheap and immutable; readers share no lock with the writer.
//
// The cluster may have other writers, and its newest state may be elsewhere. Guarantees of every
// store:
//
// - Revisions grow, with gaps: some are never seen here, and transactions that change different
//   keys may share one. A key has at most one change at a revision.
// - A snapshot is a complete state of the cluster: it contains all changes up to its revision,
//   which is that of its newest change, and no later ones. It may be older than the newest state of
//   the cluster, but never older than a snapshot that was read before.
// - A transaction is checked against the newest state of the cluster. So a precondition that holds
//   in read() may fail. The answer comes when read() shows the state that it was checked against: a
//   caller that reads then and retries does not fail for the same reason.
// - After `barrier`, reads are at least as new as the cluster's state at the moment of the call.
// - A change may have no cause: its author is elsewhere, or was not recorded.
// - Bounds count the objects that the committing store can see.
//
// The local store guarantees more: it is the only writer, so read() is the newest state; each
// transaction has a revision of its own, the next one (except after a restart); causes are kept.
// Code outside persistence/ must not rely on that.
//
// The local store commits in batches, each with one fsync that covers the objects and their change
// records, so log and state cannot disagree. After a disk error the waiting transactions fail, the
// store is read-only and retries; memory is never ahead of the disk. Writes of a failed transaction
// that did reach the disk are found by the retry and count as committed, as after a crash: `io`
// means "unknown". While the disk is nearly full (`no_space`), objects can be removed but not
// created or enlarged.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "persistence/error.hpp"
#include "persistence/store_options.hpp"
#include "persistence/transaction.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::persistence {

// The ends of leadership terms seen by this process.
struct term_ends {
  std::uint64_t resigned = 0;
  std::uint64_t expired = 0;  // the leader did not renew its lease
  std::uint64_t unseen = 0;   // this process did not follow the cluster at that time
};

// The leader of the control planes that share a store.
struct leadership {
  std::string node;  // empty: no leader
  bool is_here = false;
  revision term = 0;  // its first revision
  std::chrono::system_clock::time_point since;
  std::uint64_t changes = 0;  // changes of leadership seen by this process
  std::string reason;         // of the last change
  term_ends ends;
};

struct store_stats {
  revision current = 0;
  revision compacted = 0;
  std::uint64_t log_revisions = 0;  // number of revisions after `compacted`
  std::uint64_t objects = 0;
  std::uint64_t transactions = 0, conflicts = 0, batches = 0;
  std::size_t queued = 0;
  std::chrono::nanoseconds last_sync{0}, sync_p50{0}, sync_p99{0};
  std::uint64_t log_bytes = 0, object_bytes = 0;
  // The limit of log_bytes, the size of the directory, and the free space of its file system.
  std::uint64_t log_limit_bytes = 0, disk_bytes = 0, disk_free_bytes = 0;
  bool read_only = false;
  bool low_space = false;            // objects cannot be created or enlarged
  bool log_full = false;             // the log of the cluster was so at the last write: the same
  std::optional<leadership> leader;  // nullopt if there are no other writers
};

// `changes` follow directly after revision `after`, which was passed before. Never empty.
using batch_observer = std::function<void(revision after, change_batch changes)>;
// An index derived from the objects, used to check requests. It is never older than any state that
// can be read.
struct state_index {
  // Loads the initial state.
  std::function<void(const snapshot& state)> load;
  // Takes each later batch, before the batch is visible.
  std::function<void(const std::vector<change>& changes)> take;
};
// The revision of the state that read() shows, or an older one that is new enough.
using barrier_completion = std::function<void(expected<revision> reached)>;

class store {
 public:
  // Opens or creates the local store. Checks the format version, and the log against the objects;
  // logs the result in one line.
  static expected<std::unique_ptr<store>> open(store_options options);
  // Commits waiting transactions, then closes. Do not call it in a completion or the observer.
  virtual ~store() = default;

  // Never blocks. `done` runs once, on a commit thread (on the caller's if not threaded), in order
  // of revisions, after the change is durable and visible in read(); for a conflict, after the
  // conflicting change is visible. Transactions of relaxed kinds only may be acknowledged before
  // the sync. If the transaction is refused at once (`overloaded`, `too_large`, `invalid`,
  // `read_only`, `closed`), `done` runs before submit returns. Encoding happens on the caller's
  // thread.
  virtual void submit(transaction request, completion done) = 0;

  // Never blocks. `done` runs once, on the thread of transactions' completions, when all
  // transactions submitted here before have been answered and read() shows all that any
  // writer had committed before. Takes no revision and writes nothing. The local store
  // answers after the waiting transactions. If it fails as submit does, their outcome is
  // unknown.
  virtual void barrier(barrier_completion done) = 0;

  // The newest state known here.
  virtual snapshot read() const = 0;
  // The state at a revision while it is pinned (a paged list): `compacted` if it is no longer kept,
  // `future_revision` if it does not exist yet.
  virtual expected<snapshot> read_at(revision at) const = 0;
  // The same for a revision that is not pinned: undoes the changes since then, with the log, and
  // pins the state. Blocks (disk), so not for actors. `compacted` if the log does not reach back to
  // it, or more than `defaults::rebuild_changes` changes have followed.
  virtual expected<snapshot> rebuild(revision at) = 0;
  // Keeps the snapshot's revision readable by read_at for `defaults::pin_time`. At most
  // `defaults::pin_limit` are kept: the oldest is dropped first.
  virtual void pin(const snapshot& state) = 0;

  // Reads the changes after `after` from disk: blocks, so not for actors. At most `limit`, but
  // whole revisions: continue after the last one's. A record that cannot be decoded is an error
  // (`corrupt`), none is skipped.
  virtual expected<std::vector<change>> changes(revision after, std::size_t limit) const = 0;

  // The observer is called on a commit thread after each batch is visible, in order, before the
  // completions of its transactions. `after` is the newest revision of the previous batch, whatever
  // revisions are missing in between. It must not block. There is one observer (the watcher). When
  // this call returns the observer is registered: it gets every change after read().at().
  //
  // `index` is called on the same threads. It is loaded when this call returns, and no change is
  // missing between the loaded state and its first batch.
  virtual void observe(batch_observer observer, state_index index) = 0;
  void observe(batch_observer observer) { observe(std::move(observer), {}); }

  // Drops history up to and including `up_to` (the store itself stays within the bounds of its
  // options). Does not delay writers for long, but blocks the caller until it is done. Do not call
  // it in a completion or the observer.
  virtual expected<void> compact(revision up_to) = 0;

  // True if there are other writers: read() may be older than the newest state of the cluster.
  virtual bool is_shared() const { return false; }

  // The limit of mutations, and of preconditions, in a transaction; with more it is `invalid`.
  virtual std::size_t transaction_limit() const { return std::numeric_limits<std::size_t>::max(); }

  // The reason if the state here is not that of the cluster any more, until this process is
  // restarted: nothing may be served from it. Transactions and barriers fail with it.
  virtual std::optional<error> refusal() const { return std::nullopt; }

  virtual store_stats stats() const = 0;
  virtual std::string cluster_id() const = 0;
};

}  // namespace troupe::persistence
