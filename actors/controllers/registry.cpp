#include "actors/controllers/registry.hpp"

#include "actors/controllers/daemon_sets/daemon_sets.hpp"
#include "actors/controllers/deployments/deployments.hpp"
#include "actors/controllers/endpoints/endpoints.hpp"
#include "actors/controllers/replication/replication.hpp"
#include "actors/controllers/root_ca/root_ca.hpp"
#include "actors/controllers/stateful_sets/stateful_sets.hpp"

namespace troupe::actors {

const std::vector<controller_type>& known_controllers() {
  static const std::vector<controller_type> all{
      replication::controller(), deployments::controller(), stateful_sets::controller(),
      daemon_sets::controller(), endpoints::controller(),   root_ca::controller(),
  };
  return all;
}

}  // namespace troupe::actors
