// Plans the next step of a CronJob from the CronJob, its Jobs and the time (kubernetes:
// cronjob_controllerv2.go, syncCronJob). Pure functions.
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
  std::optional<std::int64_t> start;     // seconds since the epoch: the start of the job to create
  std::vector<api::object_ptr> remove;   // jobs to delete before one is created
  std::vector<planned_event> events;
  std::optional<std::int64_t> next_sync;  // time of the next sync, seconds since the epoch
};

// `jobs`: the jobs that the CronJob controls.
cron_plan make_plan(const api::batch::v1::CronJob& cron_job,
                    const std::vector<api::object_ptr>& jobs, std::int64_t now);

// The job of a start. Its name is deterministic (kubernetes: getJobName), so that one start never
// creates two jobs.
std::unique_ptr<api::batch::v1::Job> make_job(const api::object& cron_job, std::int64_t start);
std::string job_name(const std::string& cron_job, std::int64_t start);

}  // namespace troupe::actors::cron_jobs
