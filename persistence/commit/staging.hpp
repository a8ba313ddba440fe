// One batch under construction. Transactions are checked in order, each against the state that the
// earlier ones leave, and turned into rows for the disk, entries of the tree and changes for
// watchers. Steps of a shared log are turned into the same, without a check.
//
// Used by one commit thread. Nothing is visible to others until the batch is written. To undo
// everything, drop the tree edit and the batch.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "persistence/commit/space_manager.hpp"
#include "persistence/commit/submission.hpp"
#include "persistence/engine/engine.hpp"
#include "persistence/format/record.hpp"
#include "persistence/tree/state_digest.hpp"
#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

class staging {
 public:
  struct start {
    revision last;     // the newest revision in use
    revision horizon;  // states up to this revision leave the log soon: see table::bases
    std::chrono::system_clock::time_point now;
    space_manager* space;  // decides which changes are allowed while space is low
  };

  // `digest` is the digest of `tree`; staging keeps it up to date.
  staging(tree_edit& tree, state_digest& digest, write_batch& rows, start from);

  outcome apply(submission& submitted);

  revision last() const noexcept { return last_; }
  bool empty() const noexcept { return changes_->empty() && begins_ == 0; }
  // True when the batch has a change of a kind that must survive a power failure.
  bool durable() const noexcept { return durable_; }
  // The size of the batch's rows in table::changes.
  std::uint64_t log_bytes() const noexcept { return log_bytes_; }
  change_batch changes() const { return changes_; }
  // The revision at which this batch restarts history; 0 if it does not. Its changes do not
  // continue from the previous state.
  revision begins() const noexcept { return begins_; }

 private:
  struct next_state {
    const api::kind_info& kind;
    api::object_ptr object;  // for a removal: the last state
    std::string_view stored;
    revision created;
    bool removal;
  };

  expected<void> check(const std::vector<precondition>& preconditions) const;
  expected<void> check_bounds(const submission& submitted) const;
  expected<void> check_space(const submission& submitted) const;
  api::object_ptr mutate(mutation& requested, std::string_view stored, change_id id,
                         const change_cause& cause);
  outcome follow(decided_step& step);
  void begin_history(revision at);
  void change_to(std::string key, next_state next, change_id id, const change_cause& cause);
  void keep_base(const entry& old);

  tree_edit& tree_;
  state_digest& digest_;
  write_batch& rows_;
  revision last_;
  revision horizon_;
  std::chrono::system_clock::time_point now_;
  space_manager* space_;
  std::uint64_t log_bytes_ = 0;
  bool durable_ = false;
  revision begins_ = 0;
  std::shared_ptr<std::vector<change>> changes_ = std::make_shared<std::vector<change>>();
};

}  // namespace troupe::persistence
