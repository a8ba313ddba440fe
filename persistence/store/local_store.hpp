// The store of one machine: an engine, two commit threads and a maintenance thread.
//
// The commit threads alternate: each takes a batch of transactions through staging, disk and
// answers, while the other is one step behind or ahead. The maintenance thread drops old history
// and expired pins. Without threads the caller does all of it. Readers use only store_core.
#pragma once

#include <array>
#include <memory>
#include <thread>

#include "persistence/commit/committer.hpp"
#include "persistence/commit/store_core.hpp"
#include "persistence/commit/submission.hpp"
#include "persistence/defaults.hpp"
#include "persistence/open/loader.hpp"
#include "persistence/store/store.hpp"
#include "persistence/tree/pins.hpp"

namespace troupe::persistence {

class local_store final : public store {
 public:
  // As store::open, with an engine chosen by the caller.
  static expected<std::unique_ptr<store>> open(store_options options, engine_factory factory);
  // As open, with the concrete type.
  static expected<std::unique_ptr<local_store>> open_local(store_options options,
                                                           engine_factory factory);
  ~local_store() override;

  void submit(transaction request, completion done) override;
  // For a replica, instead of submit: applies steps of the shared log, in their order, as one
  // batch. Calls `done` for each step with its index.
  void follow(std::vector<decided_step> steps,
              const std::function<void(std::size_t index, outcome)>& done);
  void barrier(barrier_completion done) override;
  snapshot read() const override;
  expected<snapshot> read_at(revision at) const override;
  expected<snapshot> rebuild(revision at) override;
  void pin(const snapshot& state) override;
  expected<std::vector<change>> changes(revision after, std::size_t limit) const override;
  using store::observe;
  void observe(batch_observer observer, state_index index) override;
  expected<void> compact(revision up_to) override;
  store_stats stats() const override;
  std::string cluster_id() const override;
  const store_options& options() const noexcept { return core_.options; }
  // The time of the options' clock.
  std::chrono::system_clock::time_point now() const { return core_.now(); }

 private:
  local_store(store_options options, engine_factory factory, loaded_store loaded,
              std::unique_ptr<space_manager> space);

  void push(submission next);
  void enqueue(submission next);
  void run_commits();
  // Runs one batch, or tasks. Returns false when closed and nothing is left.
  bool commit_round(std::optional<submit_queue::deadline> until);
  std::unique_ptr<batch> stage(submit_queue::work first, submit_queue::batch_size all);
  void idle_round(submit_queue::work& work);
  void commit_here();
  void enter_read_only(const error& reason);
  void try_recovery();
  // Runs `work` while no batch is in the pipeline, and waits for it.
  void between_batches(const std::function<void()>& work);
  bool on_commit_thread() const;
  bool is_maintenance_due() const;
  void wake_maintenance();
  bool is_behind();

  // The result of `read`, unless the changes after `after` are compacted by then.
  template <class F>
  auto from_history(revision after, F read) const -> decltype(read(std::declval<const engine&>()));

  void run_maintenance();
  bool maintenance();
  bool truncate_history();
  expected<void> drop_history(revision up_to);
  void reclaim_space();
  void catch_up();
  void check_disk();

  store_core core_;
  committer committer_;
  submit_queue queue_;
  pin_set pins_;

  std::mutex staging_mutex_;
  std::mutex answers_mutex_;
  // Owned by the thread that has the disk; staging reads `retry_at_` once core_.read_only is set.
  std::chrono::milliseconds retry_after_{0};
  std::optional<submit_queue::deadline> retry_at_;
  std::optional<error> failure_;

  std::mutex inline_mutex_;
  bool inline_busy_ = false;

  std::mutex compaction_mutex_;
  std::atomic<revision> maintenance_due_{0};
  std::mutex maintenance_mutex_;
  std::condition_variable maintenance_wanted_;
  bool maintenance_now_ = false;
  std::atomic<bool> closing_{false};
  std::atomic<bool> stop_rewriting_{false};  // closing, or the disk must be reopened

  std::array<std::thread, defaults::commit_threads> commit_threads_;
  std::thread maintenance_thread_;
};

}  // namespace troupe::persistence
