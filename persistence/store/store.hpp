// The store of a cluster, and the only way to change its state.
//
// A transaction is checked and applied as a whole, at one revision: a 64-bit counter of the cluster
// that clients see as resourceVersion. It is acknowledged when it is safe. Thread safe: readers
// take a snapshot, which costs nothing and never changes; they share no lock with the writer.
//
// The cluster may have other writers, and its newest state may be elsewhere. Guarantees of every
// store:
//
// - Revisions grow, and that is all: some are never seen here, and transactions that change
//   different keys may share one. A key has at most one change at a revision.
// - A snapshot is a state that the cluster had as a whole, with nothing later and nothing before it
//   left out; its revision is that of its newest change. It may be older than the newest state of
//   the cluster, and each one is at least as new as those that were read before.
// - A transaction is judged by the newest state of the cluster. So a precondition that holds in
//   read() may fail. The answer, success or refusal, comes when read() shows the state that it was
//   judged by: who reads then and tries again does not fail for the same reason.
// - After `barrier` reads are at least as new as the whole cluster at the moment of the call.
// - A change may come without a cause: its author is elsewhere, or was not written down.
// - Bounds count what the store that commits can see.
//
// The local store promises more: it is the only writer, so that read() is the newest state there
// is, a transaction has a revision of its own and the next one (but after a restart), and causes
// are kept. Nothing outside persistence/ may rely on that.
//
// The local store commits in batches, each with one fsync; it holds the objects and their
// change records, so the log can never disagree with the state. A disk error fails the waiting
// transactions, turns the store read-only and is retried; memory never runs ahead of the disk.
// Writes of a failed transaction that did reach the disk are found when it answers again, and count
// as committed, as after a crash: `io` means "unknown". While the disk is nearly full (`no_space`)
// nothing is created or grows; removals are taken.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "persistence/error.hpp"
#include "persistence/store_options.hpp"
#include "persistence/transaction.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::persistence {

struct store_stats {
  revision current = 0;
  revision compacted = 0;
  std::uint64_t log_revisions = 0;  // after `compacted`
  std::uint64_t objects = 0;
  std::uint64_t transactions = 0, conflicts = 0, batches = 0;
  std::size_t queued = 0;
  std::chrono::nanoseconds last_sync{0}, sync_p50{0}, sync_p99{0};
  std::uint64_t log_bytes = 0, object_bytes = 0;
  // The bound of log_bytes, the size of the directory, and the free space of the disk for it.
  std::uint64_t log_limit_bytes = 0, disk_bytes = 0, disk_free_bytes = 0;
  bool read_only = false;
  bool low_space = false;  // nothing is created or grows
};

// After every change up to `after`, which was known before, these follow. Never empty.
using batch_observer = std::function<void(revision after, change_batch changes)>;
// Derived from the objects and never older than any state that can be read: an index by which
// requests are judged.
struct state_index {
  // The state that it begins with.
  std::function<void(const snapshot& state)> load;
  // Each batch after that state, before it is visible.
  std::function<void(const std::vector<change>& changes)> take;
};
// The revision of the state that read() shows, or of an older one that is new enough.
using barrier_completion = std::function<void(expected<revision> reached)>;

class store {
 public:
  // The local store. Opens or creates; checks the format version and the log against the objects
  // and logs the result in one line.
  static expected<std::unique_ptr<store>> open(store_options options);
  // Commits waiting transactions, then closes. Not from a completion or the observer.
  virtual ~store() = default;

  // Never blocks. `done` runs once, on a commit thread (or here when not threaded), one after the
  // other in the order of revisions, after the change is safe and visible in read(), a conflict
  // after the change that it conflicts with is visible; transactions of relaxed kinds only may be
  // acknowledged before the sync. A refusal at once (`overloaded`, `too_large`, `invalid`,
  // `read_only`, `closed`) comes before submit returns. Encoding happens on the calling
  // thread.
  virtual void submit(transaction request, completion done) = 0;

  // Never blocks. `done` runs once, where those of transactions run, when all that was submitted
  // here before this call has been answered and read() shows all that any writer of the cluster had
  // committed before it. Takes no revision and writes nothing. The local store answers after the
  // transactions that wait. Fails as submit does: then their outcome is unknown.
  virtual void barrier(barrier_completion done) = 0;

  // The newest state that is known here.
  virtual snapshot read() const = 0;
  // The state at a revision, for as long as it is pinned (a paged list): `compacted` when it has
  // gone, `future_revision` when it has not come.
  virtual expected<snapshot> read_at(revision at) const = 0;
  // Keeps the snapshot's revision readable by read_at for `defaults::pin_time`, at most
  // `defaults::pin_limit` of them: the oldest goes first.
  virtual void pin(const snapshot& state) = 0;

  // Changes after `after`, from disk: blocks, so not for actors. At most `limit`, but never a part
  // of a revision: the next call goes on after the last one's. A record that cannot be decoded is
  // an error (`corrupt`), none is left out.
  virtual expected<std::vector<change>> changes(revision after, std::size_t limit) const = 0;

  // Called on a commit thread after each batch is visible, in order, before the completions of
  // its transactions. Each batch begins where the one before has ended, whatever revisions are
  // missing between: `after` is the newest revision of that one. Must not block. One observer (the
  // watcher). When this returns it is in force: it gets every change after read().at().
  //
  // `index` is called on the same threads. It is loaded when this returns, and nothing is missing
  // between the state that it loads and its first batch.
  virtual void observe(batch_observer observer, state_index index) = 0;
  void observe(batch_observer observer) { observe(std::move(observer), {}); }

  // Drops history up to and including `up_to` (never beyond the options' bounds when called by
  // the store itself). Never blocks writers for long, but the caller until it is done. Not from a
  // completion or the observer.
  virtual expected<void> compact(revision up_to) = 0;

  // Others write to it: read() may be older than the newest state of the cluster.
  virtual bool is_shared() const { return false; }

  // Mutations, and preconditions, that a transaction may have; one with more is `invalid`.
  virtual std::size_t transaction_limit() const { return std::numeric_limits<std::size_t>::max(); }

  virtual store_stats stats() const = 0;
  virtual std::string cluster_id() const = 0;
};

}  // namespace troupe::persistence
