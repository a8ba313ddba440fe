// One CronJob: makes a Job at each time that its schedule names.
//
// A job and the status that says so (lastScheduleTime, active) are one transaction: a start is
// neither lost nor made twice, whatever is killed. Before it, in a step of its own, jobs that are
// replaced or beyond the history are deleted.
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
  void tell_events();

  cron_plan plan_;
  std::string told_;  // of the last refusal to start, so that it is told once
};

}  // namespace troupe::actors::cron_jobs
