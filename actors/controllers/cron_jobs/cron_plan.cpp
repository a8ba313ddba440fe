#include "actors/controllers/cron_jobs/cron_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "actors/controllers/cron_jobs/defaults.hpp"
#include "actors/controllers/cron_jobs/schedule.hpp"
#include "actors/controllers/kit/claims.hpp"
#include "actors/core/condition.hpp"

namespace troupe::actors::cron_jobs {

using api::batch::v1::CronJob;
using api::batch::v1::CronJobSpec;
using api::batch::v1::Job;

namespace {

constexpr auto scheduled_annotation = "batch.kubernetes.io/cronjob-scheduled-timestamp";

// "Complete", "Failed", or empty while it runs.
std::string_view end_of(const api::object& job) {
  for (const auto& each : job.as<Job>().status().conditions())
    if ((each.type() == "Complete" || each.type() == "Failed") && each.status() == "True")
      return each.type() == "Complete" ? "Complete" : "Failed";
  return {};
}

class planner {
 public:
  planner(const CronJob& cron_job, const std::vector<api::object_ptr>& jobs, std::int64_t now)
      : cron_job_{cron_job}, spec_{cron_job.spec()}, jobs_{jobs}, now_{now} {
    plan_.status = cron_job.status();
  }

  cron_plan make() {
    follow_jobs();
    if (cron_job_.metadata().has_deletion_timestamp()) return std::move(plan_);
    clean_up();
    if (!spec_.suspend()) decide();
    return std::move(plan_);
  }

 private:
  void tell(bool warning, std::string reason, std::string message) {
    plan_.events.push_back({warning, std::move(reason), std::move(message)});
  }

  auto active(const std::string& uid) {
    auto& all = *plan_.status.mutable_active();
    return std::find_if(all.begin(), all.end(),
                        [&](const auto& each) { return each.uid() == uid; });
  }

  // Updates the list of active jobs and the time of the last success.
  void follow_jobs() {
    auto& list = *plan_.status.mutable_active();
    std::set<std::string> present;
    for (const auto& job : jobs_) {
      const auto& meta = job->meta();
      present.insert(meta.uid());
      const auto found = active(meta.uid());
      const auto end = end_of(*job);
      if (end.empty()) continue;
      if (end == "Complete") note_success(job->as<Job>());
      if (found == list.end()) continue;
      tell(false, "SawCompletedJob",
           fmt::format("Saw completed job: {}, condition: {}", meta.name(), end));
      list.erase(found);
    }
    for (auto each = list.begin(); each != list.end();) {
      if (present.contains(each->uid())) {
        ++each;
        continue;
      }
      tell(false, "MissingJob", "Active job went missing: " + each->name());
      each = list.erase(each);
    }
  }

  void note_success(const Job& job) {
    const auto at = job.status().completion_time().seconds();
    auto& status = plan_.status;
    if (!status.has_last_successful_time() || status.last_successful_time().seconds() < at)
      status.mutable_last_successful_time()->set_seconds(at);
  }

  // Deletes the oldest finished jobs beyond the history limits.
  void clean_up() {
    clean_up("Complete", spec_.has_successful_jobs_history_limit(),
             spec_.successful_jobs_history_limit());
    clean_up("Failed", spec_.has_failed_jobs_history_limit(), spec_.failed_jobs_history_limit());
  }

  void clean_up(std::string_view end, bool limited, std::int32_t limit) {
    if (!limited) return;
    std::vector<api::object_ptr> ended;
    for (const auto& job : jobs_)
      if (end_of(*job) == end && !job->meta().has_deletion_timestamp()) ended.push_back(job);
    if (std::ssize(ended) <= limit) return;
    const auto age = [](const api::object_ptr& job) {
      return std::pair{job->as<Job>().status().start_time().seconds(),
                       std::string_view{job->meta().name()}};
    };
    std::sort(ended.begin(), ended.end(),
              [&](const auto& a, const auto& b) { return age(a) < age(b); });
    ended.resize(ended.size() - static_cast<std::size_t>(std::max(limit, 0)));
    plan_.remove.insert(plan_.remove.end(), ended.begin(), ended.end());
  }

  // -- the schedule -------------------------------------------------------------------------------

  void decide() {
    const auto zone = find_zone(spec_.time_zone());
    if (!zone)
      return tell(
          true, "UnknownTimeZone",
          fmt::format("invalid timeZone: \"{0}\": unknown time zone {0}", spec_.time_zone()));
    const auto schedule = api::parse_schedule(spec_.schedule());
    if (!schedule)
      return tell(
          true, "UnparseableSchedule",
          fmt::format("unparseable schedule: \"{}\" : {}", spec_.schedule(), schedule.error()));
    plan_.next_sync = next_start(*schedule, *zone, now_);
    const auto missed = starts_between(*schedule, *zone, earliest(), now_);
    if (!missed.latest) {
      // "@every" counts from the last start.
      plan_.next_sync = next_start(*schedule, *zone, earliest());
      return;
    }
    if (missed.count > defaults::missed_to_tell)
      tell(true, "TooManyMissedTimes",
           "too many missed start times. Set or decrease .spec.startingDeadlineSeconds "
           "or check clock skew");
    start(*missed.latest, *zone);
  }

  std::int64_t earliest() const {
    const auto& status = cron_job_.status();
    auto from = status.has_last_schedule_time()
                    ? status.last_schedule_time().seconds()
                    : cron_job_.metadata().creation_timestamp().seconds();
    if (spec_.has_starting_deadline_seconds())
      from = std::max(from, now_ - std::min(spec_.starting_deadline_seconds(), now_));
    return from;
  }

  void start(std::int64_t at, const absl::TimeZone& zone) {
    if (spec_.has_starting_deadline_seconds() && spec_.starting_deadline_seconds() < now_ - at)
      return tell(
          true, "MissSchedule",
          "Missed scheduled time to start a job: " +
              absl::FormatTime("%a, %d %b %E4Y %H:%M:%S %z", absl::FromUnixSeconds(at), zone));
    auto& list = *plan_.status.mutable_active();
    if (spec_.concurrency_policy() == "Forbid" && !list.empty())
      return tell(false, "JobAlreadyActive",
                  "Not starting job because prior execution is running and concurrency policy is "
                  "Forbid");
    if (spec_.concurrency_policy() == "Replace") {
      for (const auto& job : jobs_)
        if (active(job->meta().uid()) != list.end()) plan_.remove.push_back(job);
      list.Clear();
    }
    plan_.start = at;
    plan_.status.mutable_last_schedule_time()->set_seconds(at);
  }

  const CronJob& cron_job_;
  const CronJobSpec& spec_;
  const std::vector<api::object_ptr>& jobs_;
  const std::int64_t now_;
  cron_plan plan_;
};

}  // namespace

cron_plan make_plan(const CronJob& cron_job, const std::vector<api::object_ptr>& jobs,
                    std::int64_t now) {
  return planner{cron_job, jobs, now}.make();
}

std::string job_name(const std::string& cron_job, std::int64_t start) {
  return fmt::format("{}-{}", cron_job, start / 60);
}

std::unique_ptr<Job> make_job(const api::object& owner, std::int64_t start) {
  const auto& spec = owner.as<CronJob>().spec();
  auto job = std::make_unique<Job>();
  auto& meta = *job->mutable_metadata();
  meta.set_name(job_name(owner.meta().name(), start));
  meta.set_namespace_(owner.meta().namespace_());
  *meta.mutable_labels() = spec.job_template().metadata().labels();
  *meta.mutable_annotations() = spec.job_template().metadata().annotations();
  const auto zone = find_zone(spec.time_zone()).value_or(absl::UTCTimeZone());
  (*meta.mutable_annotations())[scheduled_annotation] =
      absl::FormatTime(zone.name() == "UTC" ? "%E4Y-%m-%d%ET%H:%M:%SZ" : absl::RFC3339_sec,
                       absl::FromUnixSeconds(start), zone);
  add_controller_reference(owner, meta);
  *job->mutable_spec() = spec.job_template().spec();
  return job;
}

}  // namespace troupe::actors::cron_jobs
