#include "actors/controllers/cron_jobs/cron_job_controller.hpp"

#include <algorithm>
#include <utility>

#include "actors/write/creation.hpp"
#include "api/equality.hpp"
#include "api/object/object_key.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::cron_jobs {

using api::batch::v1::CronJob;
using api::batch::v1::CronJobStatus;
using api::batch::v1::Job;

void cron_job_controller::sync() {
  plan_ = {};
  if (!owner_in_store()) return resync();
  std::vector<api::object_ptr> jobs;
  for (const auto& [key, job] : dependents())
    jobs.push_back(job);
  plan_ = make_plan(owner()->as<CronJob>(), jobs, wall_seconds());
  then(&cron_job_controller::write);
  for (const auto& job : plan_.remove)
    remove_job(job);
}

void cron_job_controller::remove_job(const api::object_ptr& job) {
  ask_writer<command_done>(
      remove{.key = api::key_of(*job),
             .uid = job->meta().uid(),
             .propagation = "Background",
             .cause = change_cause()},
      [this, job](const auto& answered) {
        refresh(api::key_of(*job));
        if (answered && ((*answered)->result || (*answered)->result.error().code == 404))
          return record(false, "SuccessfulDelete", "Deleted job " + job->meta().name());
        if (answered)
          record(true, "FailedDelete", "Deleted job: " + (*answered)->result.error().message);
        retry();
      });
}

void cron_job_controller::write() {
  if (failed()) return;
  auto status = plan_.status;
  persistence::transaction transaction;
  if (plan_.start && !add_job(transaction, status)) return;
  if (!plan_.start && api::same_meaning(status, owner()->as<CronJob>().status()))
    return record_events();
  transaction.preconditions.push_back({key(), owner()->revision()});
  auto changed = owner()->copy_as<CronJob>();
  *changed->mutable_status() = std::move(status);
  transaction.mutations.push_back({key(), &owner()->kind(), std::move(changed)});
  send_transaction(std::move(transaction), [this](const answer<commit_done>& answered) {
    refresh(key());
    if (!answered || !(*answered)->result) return retry();
    last_recorded_.clear();
    record_events();
    if (!plan_.start) return;
    const auto name = job_name(owner()->meta().name(), *plan_.start);
    refresh(api::kind_of<Job>().key(owner()->meta().namespace_(), name));
    log_decision("creates job " + name);
    record(false, "SuccessfulCreate", "Created job " + name);
  });
}

// Adds the job to the transaction and to the active list. If the job exists, somebody else created
// it for this start, which counts as done. Returns false if nothing is to be written.
bool cron_job_controller::add_job(persistence::transaction& transaction, CronJobStatus& status) {
  const auto& meta = owner()->meta();
  const auto name = job_name(meta.name(), *plan_.start);
  const auto state = read_store();
  if (state.find(api::kind_of<Job>().key(meta.namespace_(), name))) {
    plan_.start.reset();
    return true;
  }
  auto made = create_transaction(state, api::kind_of<Job>(), make_job(*owner(), *plan_.start),
                                 checks::all, wall_now(), random());
  if (!made) {
    const auto& causes = made.error().causes;
    if (!causes.empty() && causes.front().reason == "NamespaceTerminating") return false;
    record(true, "FailedCreate", "Error creating job: " + made.error().message);
    retry();
    return false;
  }
  transaction = std::move(*made);
  const auto& job = api::meta_of(*transaction.mutations.front().content);
  auto& active = *status.add_active();
  active.set_kind("Job");
  active.set_api_version("batch/v1");
  active.set_namespace_(job.namespace_());
  active.set_name(job.name());
  active.set_uid(job.uid());
  return true;
}

void cron_job_controller::record_events() {
  for (auto& [warning, reason, message] : plan_.events) {
    // A failure to start is recorded once, until something changes.
    if (std::exchange(last_recorded_, message) == message) continue;
    record(warning, std::move(reason), std::move(message));
  }
}

void cron_job_controller::after_sync() {
  if (plan_.next_sync)
    enqueue_in_seconds(std::max<std::int64_t>(*plan_.next_sync - wall_seconds(), 1));
}

}  // namespace troupe::actors::cron_jobs
