// CAF's scheduler module, replaced: our dispatcher instead of its policies, our clock instead of
// its own, and no printer thread. docs/decisions/0004-our-own-actors-on-caf.md says why.
#pragma once

#include <caf/actor_system_config.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <cstddef>

#include "runtime/detail/caf_clock.hpp"
#include "runtime/detail/dispatcher.hpp"

namespace troupe::runtime {

// Everything lives as long as the actor system that is made from it. Nothing is read from files,
// the environment or the command line.
class caf_config final : public caf::actor_system_config {
 public:
  caf_config(dispatcher& jobs, caf_clock& time, std::size_t threads);

  dispatcher& jobs;
  caf_clock& time;
  std::size_t threads;
};

class coordinator final : public caf::scheduler::abstract_coordinator {
 public:
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);

  coordinator(caf::actor_system& system, const caf_config& config)
      : abstract_coordinator{system}, config_{config} {}

  void start() override { config_.jobs.start(system(), config_.threads); }
  void stop() override;
  void enqueue(caf::resumable* job) override { config_.jobs.push(job); }
  caf::actor_clock& clock() noexcept override { return config_.time; }
  bool detaches_utility_actors() const override { return false; }

 private:
  const caf_config& config_;
};

}  // namespace troupe::runtime
