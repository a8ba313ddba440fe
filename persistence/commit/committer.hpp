// The way of a batch of transactions: it is staged, written and made visible, in this
// order; and how the store recovers after the disk has failed.
//
// The three steps are a pipeline: while one batch is on its way to the disk the next is staged on
// top of it, and the one before is being answered. Each step is one thread's at a time (local_store
// sees to it) and batches pass each step in the order of their revisions. When a write fails, the
// batches behind it fail as well: they were checked against a state that was never committed.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "persistence/commit/staging.hpp"
#include "persistence/commit/store_core.hpp"

namespace troupe::persistence {

// Transactions that are committed together.
struct batch {
  std::unique_ptr<write_batch> rows;
  staging staged;
  std::vector<submission> taken;
  std::vector<outcome> outcomes;
  std::shared_ptr<const tree_root> state;  // after it, once it is sealed
};

class committer {
 public:
  // `sealed_since` as in sealed_state.
  committer(store_core& core, revision floor, revision horizon, revision sealed_since);

  // -- staging --------------------------------------------------------------------------------
  std::unique_ptr<batch> begin();
  void stage(batch& into, std::vector<submission> taken);
  // Nothing more goes into it; the next begins where it ends.
  void seal(batch& pending);

  // -- the disk -------------------------------------------------------------------------------
  // After a failure every other fails, too, until recover() has succeeded.
  expected<void> write(batch& pending);

  // -- answers --------------------------------------------------------------------------------
  // The index of it, the new state, the observer, then each transaction's outcome.
  void publish(batch& pending);
  using observer_function = std::function<void(revision after, change_batch changes)>;
  using index_function = std::function<void(const std::vector<change>& changes)>;
  void observer(observer_function function, index_function index) {
    observer_ = std::move(function);
    index_ = std::move(index);
  }

  // -- while no batch is on its way -------------------------------------------------------------
  // Reopens the disk and brings it and memory to the same state: unsynced batches are written
  // again, changes that had reached the disk after all are made visible.
  expected<void> recover();
  // Writes the facts that make the next start simple. After the last commit.
  void close();

  struct horizon_change {
    std::shared_ptr<const tree_root> seen;  // the state at this moment
    revision before;
  };
  // From the next batch on, states up to `to` are kept as bases when they are replaced.
  horizon_change raise_horizon(revision to);

 private:
  // A batch that was acknowledged before it was synced.
  struct unsynced {
    std::unique_ptr<write_batch> rows;
    revision last;
  };

  expected<void> write_rows(batch& pending);
  bool reserve_revisions(write_batch& rows, revision last, bool synced);
  void after_write(batch& pending, bool synced, std::chrono::nanoseconds took);
  void make_visible(std::shared_ptr<const tree_root> state, change_batch changes, revision after);
  expected<void> rewrite_unsynced(revision on_disk);
  expected<void> adopt(revision on_disk);

  store_core& core_;

  // Of staging.
  tree_edit edit_;
  state_digest digest_;  // of edit_
  const revision sealed_since_;
  revision staged_;  // the newest revision that a batch has taken
  revision horizon_;

  // Of the disk.
  std::vector<unsynced> unsynced_;
  std::size_t unsynced_bytes_ = 0;
  revision floor_;
  revision written_ = 0;  // by this process: the disk must never come back with less
  bool relaxed_seen_ = false;
  std::optional<error> failure_;

  // Of answers.
  observer_function observer_;
  index_function index_;
};

}  // namespace troupe::persistence
