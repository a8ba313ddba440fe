// The commit pipeline: it stages a batch of transactions, writes it and makes it visible, in this
// order. It also recovers the store after a failure of the disk.
//
// While one batch is written to disk, the next is staged on top of it and the previous one is
// answered. One thread at a time runs each step (local_store ensures that), and batches pass each
// step in the order of their revisions. When a write fails, the later batches fail as well: they
// were checked against a state that was never committed.
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
  std::shared_ptr<const tree_root> state;  // the state after the batch, set by seal()
};

class committer {
 public:
  // `sealed_since`: see sealed_state.
  committer(store_core& core, revision floor, revision horizon, revision sealed_since);

  // -- staging --------------------------------------------------------------------------------
  std::unique_ptr<batch> begin();
  void stage(batch& into, std::vector<submission> taken);
  // Ends the batch: nothing can be added to it, and the next batch begins after it.
  void seal(batch& pending);

  // -- the disk -------------------------------------------------------------------------------
  // After a failure every further write fails until recover() has succeeded.
  expected<void> write(batch& pending);

  // -- answers --------------------------------------------------------------------------------
  // Updates the index and the visible state, calls the observer, then completes each transaction.
  void publish(batch& pending);
  using observer_function = std::function<void(revision after, change_batch changes)>;
  using index_function = std::function<void(const std::vector<change>& changes)>;
  void observer(observer_function function, index_function index) {
    observer_ = std::move(function);
    index_ = std::move(index);
  }

  // -- while no batch is in the pipeline --------------------------------------------------------
  // Reopens the disk and brings disk and memory to the same state: writes unsynced batches again,
  // and makes visible the changes that had reached the disk in spite of the error.
  expected<void> recover();
  // Writes the metadata that makes the next start fast. Call it after the last commit.
  void close();

  struct horizon_change {
    std::shared_ptr<const tree_root> seen;  // the visible state at this moment
    revision before;
  };
  // From the next batch on, replaced states up to revision `to` are kept as bases.
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

  // State of the staging step.
  tree_edit edit_;
  state_digest digest_;  // digest of edit_
  const revision sealed_since_;
  revision staged_;  // the newest revision that a batch has taken
  revision horizon_;

  // State of the disk step.
  std::vector<unsynced> unsynced_;
  std::size_t unsynced_bytes_ = 0;
  revision floor_;
  revision written_ = 0;  // by this process: a reopened disk must not have a lower revision
  bool relaxed_seen_ = false;
  std::optional<error> failure_;

  // State of the answering step.
  observer_function observer_;
  index_function index_;
};

}  // namespace troupe::persistence
