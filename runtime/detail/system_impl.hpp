// The inside of a system, for system.cpp and simulation.cpp.
#pragma once

#include <caf/actor_system.hpp>
#include <memory>

#include "runtime/detail/coordinator.hpp"
#include "runtime/detail/core.hpp"
#include "runtime/system.hpp"

namespace troupe::runtime {

struct system::impl {
  // With no threads it is a simulation: jobs run when its dispatcher is told to.
  impl(std::shared_ptr<core> all, std::size_t threads);

  std::shared_ptr<core> shared;
  caf_config config;
  std::unique_ptr<caf::actor_system> caf;
};

}  // namespace troupe::runtime
