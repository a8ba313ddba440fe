// One batch in the making: transactions are checked in order, each against what those before it
// leave behind, and turned into rows for the disk, entries of the tree and changes for watchers.
// Steps of a shared log become the same, without a check.
//
// Used by one commit thread. Nothing is visible to anybody until the batch has been written;
// dropping the tree edit and the batch undoes everything.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "persistence/commit/space_keeper.hpp"
#include "persistence/commit/submission.hpp"
#include "persistence/engine/engine.hpp"
#include "persistence/format/record.hpp"
#include "persistence/tree/state_digest.hpp"
#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

class staging {
 public:
  struct start {
    revision last;     // the newest revision that is taken
    revision horizon;  // states made up to here leave the log soon: see table::bases
    std::chrono::system_clock::time_point now;
    space_keeper* space;  // asked what may be changed while space is low
  };

  // `digest` is that of `tree`, and follows it.
  staging(tree_edit& tree, state_digest& digest, write_batch& rows, start from);

  outcome apply(submission& submitted);

  revision last() const noexcept { return last_; }
  bool empty() const noexcept { return changes_->empty() && begins_ == 0; }
  // True when something was changed whose loss would do harm.
  bool durable() const noexcept { return durable_; }
  // What the rows of `changes` take.
  std::uint64_t log_bytes() const noexcept { return log_bytes_; }
  change_batch changes() const { return changes_; }
  // Where history begins with this batch, 0 for no change: its changes do not go on from the state
  // before.
  revision begins() const noexcept { return begins_; }

 private:
  struct next_state {
    const api::kind_info& kind;
    api::object_ptr object;  // for a removal the last state
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
  space_keeper* space_;
  std::uint64_t log_bytes_ = 0;
  bool durable_ = false;
  revision begins_ = 0;
  std::shared_ptr<std::vector<change>> changes_ = std::make_shared<std::vector<change>>();
};

}  // namespace troupe::persistence
