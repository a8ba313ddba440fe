#include "runtime/detail/coordinator.hpp"

#include <caf/actor_system.hpp>
#include <caf/atom.hpp>

namespace troupe::runtime {

caf_config::caf_config(dispatcher& jobs, caf_clock& time, std::size_t threads)
    : jobs{jobs}, time{time}, threads{threads} {
  set("logger.verbosity", caf::atom("quiet"));
  set("scheduler.max-threads", threads);
  load<coordinator>();
}

caf::actor_system::module* coordinator::make(caf::actor_system& system, caf::detail::type_list<>) {
  return new coordinator{system, static_cast<const caf_config&>(system.config())};
}

void coordinator::stop() {
  config_.jobs.stop();
  config_.time.cancel_all();
}

}  // namespace troupe::runtime
