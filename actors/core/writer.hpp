// The writer: all actors change the state of the cluster through it.
//
// It hands transactions to the store, whose commit thread groups and syncs them, and answers each
// by a promise from that thread; it never waits itself. Commands (bind, evict) are planned against
// the newest state and, on a conflict, planned again a few times. Requests under way are lost when
// it crashes: their promises fail, and the sender decides (every request has a time-out).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "actors/core/capacity.hpp"
#include "actors/core/commands.hpp"
#include "actors/core/messages.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

struct writer_options {
  // Chance that a transaction is answered with a conflict in the place of being tried; simulations
  // set it.
  double conflict_chance = 0;
  // Null: there is no bound.
  std::shared_ptr<const actors::capacity> capacity = nullptr;
};

class writer : public runtime::actor {
 public:
  // The store must outlive it.
  writer(persistence::store* store, writer_options options);

  const runtime::behavior& make_behavior() const override;
  std::string describe() const override;

 private:
  using planner =
      std::function<api::expected<command_plan>(const persistence::snapshot&, runtime::wall_time)>;
  // A command on its way; it outlives a crash of the writer in the message that brings it back.
  struct attempt {
    planner plan;
    persistence::change_cause cause;
    runtime::promise<command_done> answer;
    int left;
  };
  struct retry {
    std::shared_ptr<writer::attempt> attempt;
  };
  // Counted on the commit thread too.
  struct tally {
    std::atomic<std::uint64_t> committed{0}, conflicts{0}, failed{0}, under_way{0};
  };

  void on_commit(const commit& m, runtime::promise<commit_done> answer);
  void on_bind(const bind& m, runtime::promise<command_done> answer);
  void on_evict(const evict& m, runtime::promise<command_done> answer);
  void on_remove(const remove& m, runtime::promise<command_done> answer);
  void on_retry(const retry& m);

  void begin(planner plan, persistence::change_cause cause, runtime::promise<command_done> answer);
  void carry_out(std::shared_ptr<attempt> attempt);
  void submit(persistence::transaction transaction, std::function<void(persistence::outcome)> done);
  persistence::change_cause complete(persistence::change_cause given) const;

  persistence::store* store_;
  writer_options options_;
  std::shared_ptr<tally> tally_ = std::make_shared<tally>();
  std::uint64_t binds_ = 0, evictions_ = 0, removals_ = 0;
};

}  // namespace troupe::actors
