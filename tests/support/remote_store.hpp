// A store that keeps only the weak guarantee of store.hpp, as a store may whose newest state is on
// other machines. From a seed it skips revisions, lets transactions share one, lets remote writers
// change the object that is being written, shows changes late, and loses their causes.
//
// In memory. The "cluster" decides transactions in the order in which they were sent; committed
// changes arrive here in that order, some time later, and then the responses are sent. Both advance
// in steps: by a thread of its own, or by the caller of step().
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "persistence/commit/submission.hpp"
#include "persistence/engine/engine.hpp"
#include "persistence/store/store.hpp"
#include "persistence/tree/pins.hpp"
#include "persistence/tree/state_digest.hpp"
#include "persistence/tree/tree.hpp"

namespace troupe::test {

struct remote_store_options {
  std::uint64_t seed = 1;
  // Probabilities, at each transaction: that revisions before it are missing, that the next one
  // shares its revision, that a remote writer changes the object at its first key just before, that
  // its cause is lost.
  double hole = 0.3, shared = 0.3, foreign = 0.05, uncaused = 0.3;
  // Objects that a remote writer may change. Empty: any.
  std::function<bool(const api::object&)> may_change = {};
  persistence::revision history_revisions = 100'000;
  std::function<std::chrono::system_clock::time_point()> wall_clock = {};
  // False: only step() advances it.
  bool threaded = true;
  // Called when work becomes pending.
  std::function<void()> on_work = {};
};

class remote_store final : public persistence::store {
 public:
  explicit remote_store(remote_store_options options);
  // With a thread, completes all pending work; without, drops it.
  ~remote_store() override;

  void submit(persistence::transaction request, persistence::completion done) override;
  void barrier(persistence::barrier_completion done) override;
  persistence::snapshot read() const override;
  persistence::expected<persistence::snapshot> read_at(persistence::revision at) const override;
  persistence::expected<persistence::snapshot> rebuild(persistence::revision at) override;
  void pin(const persistence::snapshot& state) override;
  persistence::expected<std::vector<persistence::change>> changes(persistence::revision after,
                                                                  std::size_t limit) const override;
  using store::observe;
  void observe(persistence::batch_observer observer, persistence::state_index index) override;
  persistence::expected<void> compact(persistence::revision up_to) override;
  bool is_shared() const override { return true; }
  persistence::store_stats stats() const override;
  std::string cluster_id() const override;

  // A remote writer commits this at once; it arrives here later.
  persistence::outcome elsewhere(persistence::transaction request);
  // Decides one transaction (or several at one revision), or delivers one. False if nothing is
  // pending, or if called from within a step.
  bool step();
  // Steps until nothing is pending.
  void run();
  bool busy() const;
  // While it is calm no remote writer interferes.
  void calm(bool calm);
  // Number of changes by random remote writers.
  std::uint64_t foreign_changes() const;

 private:
  struct question {
    persistence::barrier_completion done;
  };
  using sent = std::variant<persistence::submission, question>;
  // A decision of the cluster that has not arrived here yet.
  struct arrival {
    std::vector<persistence::change> changes;
    std::vector<std::function<void()>> answers;
    std::shared_ptr<const persistence::tree_root> state;  // null: no change
  };

  bool chance(double probability);
  void send(sent next);
  void evaluate();
  void evaluate(persistence::submission& next, persistence::revision at, arrival& into);
  void interfere(const sent& next);
  persistence::outcome apply(persistence::submission& request, persistence::revision at,
                             std::vector<persistence::change>& into);
  persistence::revision next_revision();
  void arrive(std::unique_lock<std::mutex>& lock);
  void keep_history(const std::vector<persistence::change>& changes);
  void drop_history(persistence::revision up_to);
  template <class F>
  void add_work(F add);
  void work();
  std::chrono::system_clock::time_point now() const;

  const remote_store_options options_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;

  // -- the remote cluster
  const std::unique_ptr<persistence::engine> scratch_;  // for rows that nobody reads
  persistence::tree_edit edit_;
  persistence::state_digest digest_;
  persistence::revision judged_;  // newest revision of the cluster
  std::uint64_t foreign_ = 0;
  bool calm_ = false;

  // -- in transit
  std::deque<sent> sent_;
  std::deque<arrival> arrivals_;

  // -- local
  std::shared_ptr<const persistence::tree_root> root_;
  std::deque<persistence::change> log_;
  std::uint64_t log_revisions_ = 0;
  persistence::revision compacted_ = 0;
  persistence::pin_set pins_;
  std::uint64_t transactions_ = 0, conflicts_ = 0, batches_ = 0;

  std::mutex step_mutex_;  // one step at a time
  std::atomic<std::thread::id> stepping_{};
  persistence::batch_observer observer_;  // used by the thread that steps
  persistence::state_index index_;

  bool closing_ = false;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace troupe::test
