#include "actors/controllers/jobs/jobs.hpp"

#include "actors/controllers/jobs/job_controller.hpp"
#include "actors/controllers/jobs/job_pod.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::jobs {

controller_type controller() {
  auto owner = selecting_owner<api::batch::v1::Job>("job", "job-controller");
  owner.finalizer = tracking_finalizer;
  return {.name = "jobs",
          .purpose = "pods that run to completion",
          .owners = {std::move(owner)},
          .dependents = {&api::kind_of<api::core::v1::Pod>()},
          .make = make_controller<job_controller>};
}

}  // namespace troupe::actors::jobs
