// The store of one machine: an engine, a commit thread and an upkeep thread.
//
// The commit thread owns the committer; the upkeep thread forgets old history and old pins. Without
// threads whoever calls does the work of both. Readers touch only store_core.
#pragma once

#include <memory>
#include <thread>

#include "persistence/committer.hpp"
#include "persistence/loader.hpp"
#include "persistence/pins.hpp"
#include "persistence/store_core.hpp"
#include "persistence/submission.hpp"

namespace troupe::persistence {

class local_store final : public store {
 public:
  // store::open with an engine of the caller's choice.
  static expected<std::unique_ptr<store>> open(store_options options, engine_factory factory);
  ~local_store() override;

  void submit(transaction what, completion done) override;
  snapshot read() const override;
  expected<snapshot> read_at(revision at) const override;
  void pin(const snapshot& state) override;
  expected<std::vector<change>> changes(revision after, std::size_t limit) const override;
  void observe(std::function<void(change_batch)> observer) override;
  expected<void> compact(revision up_to) override;
  store_stats stats() const override;
  std::string cluster_id() const override;

 private:
  local_store(store_options options, engine_factory factory, loaded_store loaded);

  void run_commits();
  // One round: tasks, then a batch. False when closed and nothing is left.
  bool commit_round(std::optional<submit_queue::deadline> until);
  void commit_here();
  void commit(std::vector<submission>& taken);
  void fall_read_only(const error& why);
  void try_recovery();
  // Runs `what` between two batches and waits for it.
  void between_batches(const std::function<void()>& what);
  bool on_commit_thread() const;

  void run_upkeep();
  void upkeep();
  expected<void> forget(revision up_to);

  store_core core_;
  committer committer_;
  submit_queue queue_;
  pin_set pins_;

  // Of the commit thread.
  std::chrono::milliseconds retry_after_{0};
  std::optional<submit_queue::deadline> retry_at_;
  std::optional<error> failure_;

  std::mutex inline_mutex_;
  bool inline_busy_ = false;

  std::mutex compaction_mutex_;
  std::atomic<revision> upkeep_due_{0};
  std::mutex upkeep_mutex_;
  std::condition_variable upkeep_wanted_;
  bool upkeep_now_ = false;
  std::atomic<bool> closing_{false};

  std::thread commit_thread_;
  std::thread upkeep_thread_;
};

}  // namespace troupe::persistence
