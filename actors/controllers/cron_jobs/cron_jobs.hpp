// The controller of CronJobs.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::cron_jobs {

controller_type controller();

}  // namespace troupe::actors::cron_jobs
