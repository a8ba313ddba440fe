// The store: the one truth of a cluster, and the one door to change it.
//
// A transaction is checked and applied as a whole and gets the next revision of the store, one
// 64-bit counter that clients see as resourceVersion. It is acknowledged when it is on disk
// (group commit: whatever waits goes into one batch with one fsync). The batch holds the objects
// and their change records, so the log can never disagree with the state.
//
// Thread safe. Readers take a snapshot, which costs nothing and never changes; they share no lock
// with the writer. A disk error fails the waiting transactions, turns the store read-only and is
// retried; memory never runs ahead of the disk. What a failed transaction left on the disk is found
// when the disk answers again and then counts as committed, as after a crash: `io` means "unknown".
// While the disk is nearly full (`no_space`) nothing is created or grows; removals are taken.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/object.hpp"
#include "persistence/error.hpp"
#include "persistence/snapshot.hpp"

namespace troupe::persistence {

struct precondition {
  std::string key;
  // 0: the key must be absent; otherwise the revision of its last change must be this one.
  revision at = 0;
};

struct mutation {
  std::string key;
  const api::kind_info* kind = nullptr;
  // Null: remove the key (a precondition-less remove of an absent key is no change).
  std::unique_ptr<api::body> content;
};

// Creations that would leave more than `most` of something in the store are refused (`exceeded`).
// What does not create is never refused: a full store can still be changed, and emptied.
struct bound {
  enum class measure : std::uint8_t { objects, bytes };
  measure of = measure::objects;
  std::string prefix = {};  // of the keys of the objects that count; bytes are those of all
  std::uint64_t most = 0;
};

// Who and what made a change; kept in the log and shown by the console's `history` and `why`.
struct change_cause {
  std::uint64_t request = 0;  // id of the client's request, 0 for none
  revision trigger = 0;       // the revision that the author reacted to, 0 for none
  std::string author;         // user, or actor as "kind/name"
};

// Changes a key at most once (`invalid` otherwise). One that changes nothing takes no revision.
struct transaction {
  std::vector<precondition> preconditions;
  std::vector<mutation> mutations;
  change_cause why;
  std::vector<bound> bounds = {};
};

struct committed {
  revision at = 0;
  // The new objects, in the order of the mutations; for a removal the last state stamped with `at`,
  // null when there was nothing to remove.
  std::vector<api::object_ptr> objects;
};

using outcome = expected<committed>;
using completion = std::function<void(outcome)>;

enum class change_type : std::uint8_t { created, updated, removed };

// One key's part of a transaction, as watchers see it.
struct change {
  revision at = 0;
  change_type type = change_type::created;
  std::string key;
  // The new state; for a removal the last state, stamped with the revision of the removal.
  api::object_ptr object;
  // The state before; null for `created`.
  api::object_ptr previous;
  change_cause why;
  std::chrono::system_clock::time_point when;
};

// All changes of one batch, in order of revision; shared by everybody who looks.
using change_batch = std::shared_ptr<const std::vector<change>>;

struct store_options {
  std::string directory;  // empty: in memory, for tests and simulations
  // The log keeps at least so many revisions, and at least so long, ...
  revision history_revisions = 100'000;
  std::chrono::seconds history_time{600};
  // ... but never more bytes than this, or than a part of the disk (disk_space.hpp).
  std::uint64_t log_limit_bytes = 512ull << 20;
  std::size_t queue_limit = 20'000;  // transactions waiting
  std::size_t batch_limit = 512;     // transactions in one fsync
  std::size_t value_limit_bytes = 3u << 20;
  // False: no threads; submit() commits at once on the caller's thread (simulations). What is
  // submitted from within a completion or the observer is committed after it returns.
  bool threaded = true;
  // The time of changes and pins; empty: the system's. A simulation hands in its own.
  std::function<std::chrono::system_clock::time_point()> wall_clock;
  // The id of a cluster that is made now; empty: a random UUID.
  std::string cluster_id;
  // The memory that this process may use; 0: what its control groups say.
  std::uint64_t memory_limit_bytes = 0;
};

struct store_stats {
  revision current = 0;
  revision compacted = 0;
  std::uint64_t log_revisions = 0;  // after `compacted`
  std::uint64_t objects = 0;
  std::uint64_t transactions = 0, conflicts = 0, batches = 0;
  std::size_t queued = 0;
  std::chrono::nanoseconds last_sync{0}, sync_p50{0}, sync_p99{0};
  std::uint64_t log_bytes = 0, object_bytes = 0;
  // What log_bytes may come to, what the directory takes, and what the disk has left for it.
  std::uint64_t log_limit_bytes = 0, disk_bytes = 0, disk_free_bytes = 0;
  bool read_only = false;
  bool low_space = false;  // nothing is created or grows
};

class store {
 public:
  // Opens or creates; checks the format version and the log against the objects and logs what it
  // found in one line.
  static expected<std::unique_ptr<store>> open(store_options options);
  // Commits what waits, then closes. Not from a completion or the observer.
  virtual ~store() = default;

  // Never blocks. `done` runs once, on a commit thread (or here when not threaded), one after the
  // other in the order of revisions, after the change is on disk and visible in read();
  // transactions of relaxed kinds only may be acknowledged before the sync. What is refused at the
  // door (`overloaded`, `too_large`, `invalid`, `read_only`, `closed`) is told before submit
  // returns. Encoding happens on the calling thread.
  virtual void submit(transaction what, completion done) = 0;

  // The newest committed state.
  virtual snapshot read() const = 0;
  // The state at a revision, for as long as it is pinned (a paged list): `compacted` when it has
  // gone, `future_revision` when it has not come.
  virtual expected<snapshot> read_at(revision at) const = 0;
  // Keeps the snapshot's revision readable by read_at for `defaults::pin_time`, at most
  // `defaults::pin_limit` of them: the oldest goes first.
  virtual void pin(const snapshot& state) = 0;

  // Changes after `after`, from disk: blocks, so not for actors. At most `limit`, but never a part
  // of a transaction: the next call goes on after the last one's revision. A record that cannot be
  // decoded is an error (`corrupt`), none is left out.
  virtual expected<std::vector<change>> changes(revision after, std::size_t limit) const = 0;

  // Called on a commit thread after each batch is visible, in order, before the completions of
  // its transactions. Must not block. One observer (the watcher's door). When this returns it is in
  // force: every change after read().at() will be told.
  virtual void observe(std::function<void(change_batch)> observer) = 0;

  // Drops history up to and including `up_to` (never beyond what the options keep when called by
  // the store itself). Never blocks writers for long, but the caller until it is done. Not from a
  // completion or the observer.
  virtual expected<void> compact(revision up_to) = 0;

  virtual store_stats stats() const = 0;
  virtual std::string cluster_id() const = 0;
};

}  // namespace troupe::persistence
