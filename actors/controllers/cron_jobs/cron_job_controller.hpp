// The controller of one CronJob: creates a Job at each time of the schedule.
//
// A Job and the status that records it (lastScheduleTime, active) are written in one transaction:
// whatever crashes, a start is neither lost nor repeated. An earlier step of the sync deletes
// replaced jobs and jobs beyond the history limit.
#pragma once

#include "actors/controllers/cron_jobs/cron_plan.hpp"
#include "actors/controllers/kit/reconciler.hpp"

namespace troupe::actors::cron_jobs {

class cron_job_controller : public reconciler {
 public:
  using reconciler::reconciler;

 private:
  void sync() override;
  void after_sync() override;

  void remove_job(const api::object_ptr& job);
  void write();
  bool add_job(persistence::transaction& transaction, api::batch::v1::CronJobStatus& status);
  void record_events();

  cron_plan plan_;
  std::string
      last_recorded_;  // the last failure that was recorded as an event, to record each once
};

}  // namespace troupe::actors::cron_jobs
