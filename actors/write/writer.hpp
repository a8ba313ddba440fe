// The writer: the actor through which all actors change the cluster's state.
//
// It passes transactions and commands (bind, evict, remove) to the write service
// (write_service.hpp), which completes the promise of each on its own thread; the writer never
// waits. When the writer crashes, promises in flight fail and the sender decides (every request has
// a timeout).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "actors/core/messages.hpp"
#include "actors/write/commands.hpp"
#include "actors/write/write_gate.hpp"
#include "actors/write/write_service.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

struct writer_options {
  // Probability that a transaction is answered with a conflict without being tried; for
  // simulations.
  double conflict_chance = 0;
  // Null: always open. Once the gate is closed all requests are rejected.
  std::shared_ptr<write_gate> gate = nullptr;
  // Of the leadership term of the writer (persistence::transaction).
  revision fence = 0;
};

class writer : public runtime::actor {
 public:
  writer(std::shared_ptr<write_service> service, writer_options options);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_commit(const commit& m, runtime::promise<commit_done> answer);
  void on_bind(const bind& m, runtime::promise<command_done> answer);
  void on_evict(const evict& m, runtime::promise<command_done> answer);
  void on_remove(const remove& m, runtime::promise<command_done> answer);
  void on_barrier(const barrier&, runtime::promise<barrier_done> answer);

  void carry_out(std::function<api::expected<proposal>(const persistence::snapshot&)> propose,
                 persistence::change_cause cause, runtime::promise<command_done> answer);
  template <class F>
  bool pass(F write) const;
  bool draws_conflict();
  persistence::change_cause complete(persistence::change_cause given) const;

  const std::shared_ptr<write_service> service_;
  const writer_options options_;
  runtime::timer round_;
  std::uint64_t binds_ = 0, evictions_ = 0, removals_ = 0;
};

}  // namespace troupe::actors
