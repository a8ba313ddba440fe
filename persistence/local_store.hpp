// The store of one machine: an engine, two commit threads and an upkeep thread.
//
// The commit threads take turns: each carries a batch of transactions through staging, disk and
// answers, while the other is a step behind or ahead. The upkeep thread forgets old history and old
// pins. Without threads whoever calls does the work of all. Readers touch only store_core.
#pragma once

#include <array>
#include <memory>
#include <thread>

#include "persistence/committer.hpp"
#include "persistence/defaults.hpp"
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
  local_store(store_options options, engine_factory factory, loaded_store loaded,
              std::unique_ptr<space_keeper> space);

  void run_commits();
  // One batch, or tasks. False when closed and nothing is left.
  bool commit_round(std::optional<submit_queue::deadline> until);
  std::unique_ptr<batch> stage(submit_queue::work first, submit_queue::room all);
  void quiet_round(submit_queue::work& work);
  void commit_here();
  void fall_read_only(const error& why);
  void try_recovery();
  // Runs `what` while no batch is on its way and waits for it.
  void between_batches(const std::function<void()>& what);
  bool on_commit_thread() const;
  bool is_upkeep_due() const;
  void wake_upkeep();

  void run_upkeep();
  bool upkeep();
  bool cut_history();
  expected<void> forget(revision up_to);
  void win_space();
  void check_disk();

  store_core core_;
  committer committer_;
  submit_queue queue_;
  pin_set pins_;

  std::mutex staging_mutex_;
  std::mutex answers_mutex_;
  // Of who has the disk; `retry_at_` may be read by who stages once core_.read_only is set.
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
  std::atomic<bool> stop_rewriting_{false};  // closing, or the disk is wanted to be opened anew

  std::array<std::thread, defaults::commit_threads> commit_threads_;
  std::thread upkeep_thread_;
};

}  // namespace troupe::persistence
