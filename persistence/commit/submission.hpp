// A transaction on its way to the disk, and the bounded queue where it waits.
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

// What a shared log has decided; a replica follows it and judges nothing.
struct decided_change {
  std::string key;
  api::object_ptr object;  // at the revision of its change; null: removed
  std::string stored;      // empty for a removal
  revision created = 0;    // of the key; 0: as the state before says
};

struct decided_step {
  revision at = 0;  // where the state is afterwards
  std::vector<decided_change> changes;
  change_cause cause;
  std::optional<std::chrono::system_clock::time_point> time = {};
  // The changes are the difference to a state that was read as a whole: what happened between is
  // not known, so that history begins at `at`.
  bool whole_state = false;
};

struct submission {
  transaction request;
  // The stored form of each mutation's content; empty for a removal.
  std::vector<std::string> stored;
  completion done;
  std::size_t size_bytes = 0;
  std::unique_ptr<decided_step> decided = {};  // instead of `request`
};

// The errors of a transaction that the state refuses: a key is of another revision, a bound would
// be exceeded.
error conflict(const precondition& wanted, revision actual);
error exceeded(const bound& allowed, std::uint64_t actual);

// Checks what can be checked without the state, and encodes. `invalid` or `too_large`. Revisions in
// the contents go: they are of the states before, and the commit writes the new one.
expected<std::vector<std::string>> encode(transaction& request, std::size_t value_limit_bytes);

// Many threads push, one at a time takes. It also gives the disk to one batch after the other, so
// that the consumer sleeps until there is enough to do for both: a batch that is being staged
// grows in chunks for as long as the disk is busy with the one before, and goes as soon as it is
// free.
class submit_queue {
 public:
  using task = std::function<void()>;
  using deadline = std::chrono::steady_clock::time_point;

  struct work {
    std::vector<task> tasks;  // to be run while no batch is on its way; then nothing else is taken
    std::vector<submission> submissions;
    bool disk = false;  // the taker has it, until release_disk()
    bool closed = false;
  };
  struct batch_size {
    std::size_t count;
    std::size_t bytes;  // but for the first, at most so many in all
  };

  submit_queue(std::size_t limit, std::size_t limit_bytes);

  // On failure `submitted` is as it was.
  expected<void> push(submission& submitted);
  // Work for the taker itself, to be done between batches. False when closed.
  bool post(task next);

  // From now on push fails with `reason`; without it, takes again.
  void refuse(std::optional<error> reason);
  // While it is held, waiting submissions are not taken, unless the queue is closed; tasks are.
  void hold(bool held);
  // push fails with `closed`; waiting submissions can still be taken.
  void close();

  // Tasks, or the oldest transactions, with the disk when it is free. Waits for either until
  // `until`; without it, does not wait.
  work take(batch_size limit, std::optional<deadline> until);
  // For a batch that has begun: waits for the disk, or for a chunk that still fits.
  work more(batch_size limit);

  // Waits until the disk is free, and takes it.
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
  std::condition_variable changed_;  // one waits: the taker
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
