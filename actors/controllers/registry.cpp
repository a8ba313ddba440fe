#include "actors/controllers/registry.hpp"

#include "actors/controllers/autoscaling/autoscaling.hpp"
#include "actors/controllers/cron_jobs/cron_jobs.hpp"
#include "actors/controllers/daemon_sets/daemon_sets.hpp"
#include "actors/controllers/deployments/deployments.hpp"
#include "actors/controllers/disruption/disruption.hpp"
#include "actors/controllers/endpoints/endpoints.hpp"
#include "actors/controllers/jobs/jobs.hpp"
#include "actors/controllers/load_balancers/load_balancers.hpp"
#include "actors/controllers/replication/replication.hpp"
#include "actors/controllers/root_ca/root_ca.hpp"
#include "actors/controllers/slice_mirroring/slice_mirroring.hpp"
#include "actors/controllers/stateful_sets/stateful_sets.hpp"

namespace troupe::actors {

const std::vector<controller_type>& known_controllers() {
  // One line for each:
  // clang-format off
  static const std::vector<controller_type> all{
      replication::controller(),
      deployments::controller(),
      stateful_sets::controller(),
      daemon_sets::controller(),
      jobs::controller(),
      cron_jobs::controller(),
      endpoints::controller(),
      load_balancers::controller(),
      slice_mirroring::controller(),
      disruption::controller(),
      autoscaling::controller(),
      root_ca::controller(),
  };
  // clang-format on
  return all;
}

}  // namespace troupe::actors
