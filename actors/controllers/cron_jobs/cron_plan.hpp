// What a cron job needs next, from it, its jobs and the time alone (kubernetes:
// cronjob_controllerv2.go, syncCronJob). Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/batch_v1.pb.h"

namespace troupe::actors::cron_jobs {

struct planned_event {
  bool warning = false;
  std::string reason, message;
};

struct cron_plan {
  api::batch::v1::CronJobStatus status;  // written in one transaction with the creation of a job
  std::optional<std::int64_t> start;     // seconds since the epoch: a job for that time is made
  std::vector<api::object_ptr> remove;   // jobs, before one is made
  std::vector<planned_event> events;
  std::optional<std::int64_t> look_at;  // seconds since the epoch
};

// `jobs`: those that the cron job controls.
cron_plan make_plan(const api::batch::v1::CronJob& cron_job,
                    const std::vector<api::object_ptr>& jobs, std::int64_t now);

// The job for a start: its name is the same each time (kubernetes: getJobName), so that one start
// never makes two.
std::unique_ptr<api::batch::v1::Job> make_job(const api::object& cron_job, std::int64_t start);
std::string job_name(const std::string& cron_job, std::int64_t start);

}  // namespace troupe::actors::cron_jobs
