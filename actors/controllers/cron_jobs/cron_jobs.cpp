#include "actors/controllers/cron_jobs/cron_jobs.hpp"

#include "actors/controllers/cron_jobs/cron_job_controller.hpp"

namespace troupe::actors::cron_jobs {

controller_type controller() {
  return {.name = "cron_jobs",
          .purpose = "a Job at each time of its schedule",
          .owners = {{&api::kind_of<api::batch::v1::CronJob>(), "cronjob", "cronjob-controller"}},
          .dependents = {&api::kind_of<api::batch::v1::Job>()},
          .make = make_controller<cron_job_controller>};
}

}  // namespace troupe::actors::cron_jobs
