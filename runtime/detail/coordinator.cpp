#include "runtime/detail/coordinator.hpp"

#include <caf/actor_system.hpp>
#include <caf/atom.hpp>

namespace troupe::runtime {

caf_config::caf_config(dispatcher& jobs, std::size_t threads) : jobs{jobs}, threads{threads} {
  set("logger.verbosity", caf::atom("quiet"));
  load<coordinator>();
}

caf::actor_system::module* coordinator::make(caf::actor_system& system, caf::detail::type_list<>) {
  return new coordinator{system, static_cast<const caf_config&>(system.config())};
}

}  // namespace troupe::runtime
