// A submitted transaction, and the bounded queue in which it waits for a commit thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "persistence/transaction.hpp"

namespace troupe::persistence {

// A change that the shared log has committed. A replica applies it without checks.
struct decided_change {
  std::string key;
  api::object_ptr object;  // at the revision of the change; null: removed
  std::string stored;      // empty for a removal
  revision created = 0;    // create revision of the key; 0: as in the previous state
};

struct decided_step {
  revision at = 0;  // the revision of the state after the step
  std::vector<decided_change> changes;
  change_cause cause;
  std::optional<std::chrono::system_clock::time_point> time = {};
  // The step was computed from a complete state that was read. The changes in between are not
  // known, so history restarts at `at`.
  bool whole_state = false;
};

struct submission {
  transaction request;
  // The stored form of each mutation's content; empty for a removal.
  std::vector<std::string> stored;
  completion done;
  std::size_t size_bytes = 0;
  std::unique_ptr<decided_step> decided = {};  // used instead of `request`
};

// The errors of a transaction that the state refuses: a key has another revision, or a bound would
// be exceeded.
error conflict(const precondition& wanted, revision actual);
error exceeded(const bound& allowed, std::uint64_t actual);

// Checks everything that needs no state, and encodes the contents. Fails with `invalid` or
// `too_large`. Clears the resourceVersion in each content: the commit writes the new one.
expected<std::vector<std::string>> encode(transaction& request, std::size_t value_limit_bytes);

// A queue with many producers and one consumer. It also grants the disk to one batch after the
// other, so that the consumer sleeps until there is enough work for both: while the disk is
// busy with one batch, the next grows in chunks, and it is written as soon as the disk is
// free.
class submit_queue {
 public:
  using task = std::function<void()>;
  using deadline = std::chrono::steady_clock::time_point;

  struct work {
    std::vector<task> tasks;  // run while no batch is in the pipeline; then `submissions` is empty
    std::vector<submission> submissions;
    bool disk = false;  // the consumer owns the disk until release_disk()
    bool closed = false;
  };
  struct batch_size {
    std::size_t count;
    std::size_t bytes;  // limit of the total size; the first transaction may exceed it
  };

  submit_queue(std::size_t limit, std::size_t limit_bytes);

  // On failure `submitted` is unchanged.
  expected<void> push(submission& submitted);
  // Adds a task that the consumer runs between batches. Returns false when closed.
  bool post(task next);

  // Makes push fail with `reason` from now on; nullopt: push works again.
  void refuse(std::optional<error> reason);
  // While held, submissions are not taken unless the queue is closed. Tasks still are.
  void hold(bool held);
  // From now on push fails with `closed`. Submissions that wait can still be taken.
  void close();

  // Returns tasks, or the oldest transactions, with the disk if it is free. Waits until `until` for
  // work; without `until` it does not wait.
  work take(batch_size limit, std::optional<deadline> until);
  // For a batch under construction: waits for the disk, or for a chunk that still fits.
  work more(batch_size limit);

  // Waits until the disk is free, and acquires it.
  void acquire_disk();
  void release_disk();

  std::size_t size() const;

 private:
  bool worth_taking() const;
  bool is_held() const { return held_ && !closed_; }
  void take_submissions(work& into, batch_size limit);
  void claim_disk(work& into);

  const std::size_t limit_;
  const std::size_t limit_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // only the consumer waits
  std::deque<submission> waiting_;
  std::vector<task> tasks_;
  std::size_t waiting_bytes_ = 0;
  std::optional<error> refusal_;
  bool closed_ = false;
  bool held_ = false;
  bool disk_free_ = true;
  bool taker_waits_ = false;
};

}  // namespace troupe::persistence
