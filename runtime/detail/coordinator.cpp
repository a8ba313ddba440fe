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
  // The clock first: an actor whose last reference it holds must be gone before the system is.
  config_.time.stop();
  config_.jobs.stop();
  // What the last jobs asked for, and what its end put on the queue.
  config_.time.cancel_all();
  config_.jobs.stop();
}

}  // namespace troupe::runtime
