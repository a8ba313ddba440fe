// Replaces CAF's scheduler module: uses our dispatcher instead of its policies, and no printer
// thread. docs/decisions/0004-our-own-actors-on-caf.md gives the reasons.
#pragma once

#include <caf/actor_system_config.hpp>
#include <caf/detail/simple_actor_clock.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <cstddef>

#include "runtime/detail/dispatcher.hpp"

namespace troupe::runtime {

// Must outlive the actor system that is created from it. Reads nothing from files, the environment
// or the command line.
class caf_config final : public caf::actor_system_config {
 public:
  caf_config(dispatcher& jobs, std::size_t threads);

  dispatcher& jobs;
  std::size_t threads;
};

class coordinator final : public caf::scheduler::abstract_coordinator {
 public:
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);

  coordinator(caf::actor_system& system, const caf_config& config)
      : abstract_coordinator{system}, config_{config} {}

  void start() override { config_.jobs.start(system(), config_.threads); }
  void stop() override { config_.jobs.stop(); }
  void enqueue(caf::resumable* job) override { config_.jobs.push(job); }
  // CAF requires one. Only the two actors of CAF's actor system use it, at shutdown, without
  // timeouts. Our deadlines are in `timer_service`.
  caf::actor_clock& clock() noexcept override { return no_time_; }

 private:
  const caf_config& config_;
  caf::detail::simple_actor_clock no_time_;
};

}  // namespace troupe::runtime
