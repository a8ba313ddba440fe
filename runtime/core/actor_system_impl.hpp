// The implementation of a system, shared by actor_system.cpp and simulation.cpp.
#pragma once

#include <caf/actor_system.hpp>
#include <memory>

#include "runtime/actor_system.hpp"
#include "runtime/detail/coordinator.hpp"
#include "runtime/detail/system_core.hpp"

namespace troupe::runtime {

struct actor_system::impl {
  // Without threads it is a simulation, which steps the dispatcher.
  impl(std::shared_ptr<system_core> all, std::size_t threads);

  std::shared_ptr<system_core> shared;
  caf_config config;
  std::unique_ptr<caf::actor_system> caf;
};

}  // namespace troupe::runtime
