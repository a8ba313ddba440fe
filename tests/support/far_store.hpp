// A store that keeps the weak promise of store.hpp to the letter, as one whose newest state is on
// other machines may. From a seed it leaves revisions out, lets transactions share one, has writers
// elsewhere that change what is just being written, shows changes late, and loses their causes.
//
// In memory. The "cluster" judges transactions in the order in which they were sent; what it has
// committed arrives here in that order, some time later, and then the answers are told. Both move
// in steps: by a thread of its own, or by whoever calls step().
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

struct far_store_options {
  std::uint64_t seed = 1;
  // Chances, at each transaction: that revisions before it are missing, that the next one shares
  // its revision, that a writer elsewhere changes the object at its first key just before, that its
  // cause is lost.
  double hole = 0.3, shared = 0.3, foreign = 0.05, uncaused = 0.3;
  // What a writer elsewhere may change. Empty: anything.
  std::function<bool(const api::object&)> may_change = {};
  persistence::revision history_revisions = 100'000;
  std::function<std::chrono::system_clock::time_point()> wall_clock = {};
  // False: nothing moves but by step().
  bool threaded = true;
  // Called when there is something to do where there was nothing.
  std::function<void()> on_work = {};
};

class far_store final : public persistence::store {
 public:
  explicit far_store(far_store_options options);
  // With a thread, after all that is under way; without, that is dropped.
  ~far_store() override;

  void submit(persistence::transaction request, persistence::completion done) override;
  void barrier(persistence::barrier_completion done) override;
  persistence::snapshot read() const override;
  persistence::expected<persistence::snapshot> read_at(persistence::revision at) const override;
  void pin(const persistence::snapshot& state) override;
  persistence::expected<std::vector<persistence::change>> changes(persistence::revision after,
                                                                  std::size_t limit) const override;
  using store::observe;
  void observe(persistence::batch_observer observer, persistence::state_index index) override;
  persistence::expected<void> compact(persistence::revision up_to) override;
  bool is_shared() const override { return true; }
  persistence::store_stats stats() const override;
  std::string cluster_id() const override;

  // A writer elsewhere commits this at once; it arrives here later.
  persistence::outcome elsewhere(persistence::transaction request);
  // One transaction (or several at one revision) is judged, or something arrives. False when
  // nothing is under way, or when called from within a step.
  bool step();
  // Until nothing is under way.
  void run();
  bool busy() const;
  // While it is calm no writer elsewhere interferes by chance.
  void calm(bool calm);
  // So many changes were made elsewhere by chance.
  std::uint64_t foreign_changes() const;

 private:
  struct question {
    persistence::barrier_completion done;
  };
  using sent = std::variant<persistence::submission, question>;
  // What the cluster has decided and what is not known here yet.
  struct arrival {
    std::vector<persistence::change> changes;
    std::vector<std::function<void()>> answers;
    std::shared_ptr<const persistence::tree_root> state;  // null: no change
  };

  bool chance(double probability);
  void send(sent next);
  void judge();
  void judge(persistence::submission& next, persistence::revision at, arrival& into);
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

  const far_store_options options_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;

  // -- elsewhere
  const std::unique_ptr<persistence::engine> scratch_;  // for rows that nobody reads
  persistence::tree_edit edit_;
  persistence::state_digest digest_;
  persistence::revision judged_;  // the newest revision of the cluster
  std::uint64_t foreign_ = 0;
  bool calm_ = false;

  // -- on the way
  std::deque<sent> sent_;
  std::deque<arrival> arrivals_;

  // -- here
  std::shared_ptr<const persistence::tree_root> root_;
  std::deque<persistence::change> log_;
  std::uint64_t log_revisions_ = 0;
  persistence::revision compacted_ = 0;
  persistence::pin_set pins_;
  std::uint64_t transactions_ = 0, conflicts_ = 0, batches_ = 0;

  std::mutex step_mutex_;  // one step at a time
  std::atomic<std::thread::id> stepping_{};
  persistence::batch_observer observer_;  // of the one that steps
  persistence::state_index index_;

  bool closing_ = false;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace troupe::test
