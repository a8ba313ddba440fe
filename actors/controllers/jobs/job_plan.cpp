#include "actors/controllers/jobs/job_plan.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "actors/controllers/jobs/defaults.hpp"
#include "actors/controllers/jobs/job_state.hpp"
#include "actors/controllers/jobs/success_policy.hpp"
#include "actors/core/condition.hpp"

namespace troupe::actors::jobs {

using api::batch::v1::Job;
using api::batch::v1::JobSpec;
using api::batch::v1::JobStatus;

namespace {

constexpr auto built_in_manager = "kubernetes.io/job-controller";

bool holds(const JobStatus& status, std::string_view type) {
  return is_condition_true(status.conditions(), type);
}

struct job_end {
  bool success;
  std::string reason, message;
};

class planner {
 public:
  planner(const Job& job, const std::vector<job_pod>& pods, const failure_record& known,
          std::int64_t now)
      : job_{job}, spec_{job.spec()}, pods_{pods}, known_{known}, now_{now}, state_{job, pods} {
    plan_.status = job.status();
  }

  job_plan make() {
    if (is_finished(job_)) {
      for (const auto& pod : pods_)
        if (pod.tracked && !pod.active) release(pod);
      for (const auto& pod : pods_)
        if (pod.active) remove(pod);
      return std::move(plan_);
    }
    take_over();
    plan_.failures = count_failures(pods_, known_);
    const bool suspended = spec_.suspend();
    if (!status().has_start_time() && !suspended) set_start();
    auto end = decide();
    if (!end) note_suspension(suspended);
    count_ended(end.has_value());
    if (!end) record_surplus();
    if (!end && completed())
      end = {true, "CompletionsReached", "Reached expected number of succeeded pods"};
    if (end) {
      finish(*end);
    } else if (suspended) {
      remove_lowest(state_.active);
    } else if (!job_.metadata().has_deletion_timestamp()) {
      manage();
    }
    return std::move(plan_);
  }

 private:
  JobStatus& status() noexcept { return plan_.status; }

  void next_sync(std::int64_t at) {
    plan_.next_sync = plan_.next_sync ? std::min(*plan_.next_sync, at) : at;
  }
  void tell(bool warning, std::string reason, std::string message) {
    plan_.events.push_back({warning, std::move(reason), std::move(message)});
  }
  void set(std::string_view type, bool holds, std::string_view reason, std::string_view message) {
    auto& all = *status().mutable_conditions();
    const runtime::wall_time at{std::chrono::seconds{now_}};
    if (set_condition(all, {type, holds ? "True" : "False", reason, message}, at))
      find_condition(all, type)->mutable_last_probe_time()->set_seconds(now_);
  }
  void set_start() { status().mutable_start_time()->set_seconds(now_); }

  // Takes over pods that another controller has listed as uncounted.
  void take_over() {
    auto& uncounted = *status().mutable_uncounted_terminated_pods();
    if (!state_.indexed) status().set_succeeded(status().succeeded() + uncounted.succeeded_size());
    status().set_failed(status().failed() + uncounted.failed_size());
    uncounted.Clear();
    status().set_active(static_cast<std::int32_t>(state_.active.size()));
    status().set_ready(state_.ready);
    status().set_terminating(state_.terminating);
  }

  std::int64_t succeeded() const {
    return state_.indexed ? state_.succeeded_indexes.size()
                          : plan_.status.succeeded() + new_succeeded_left_;
  }

  // -- completion ---------------------------------------------------------------------------------

  std::optional<job_end> decide() {
    for (const auto& [type, success] :
         {std::pair{"SuccessCriteriaMet", true}, std::pair{"FailureTarget", false}})
      if (holds(status(), type)) {
        const auto* found = find_condition(status().conditions(), type);
        return job_end{success, found->reason(), found->message()};
      }
    for (const auto& pod : pods_)
      if (auto failure = state_.failure_of(pod); failure.action == failure_action::fail_job)
        return job_end{false, "PodFailurePolicy", std::move(failure.message)};
    if (status().failed() + state_.new_failed > spec_.backoff_limit() ||
        state_.exceeds_restart_limit(pods_))
      return job_end{false, "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
    if (past_deadline())
      return job_end{false, "DeadlineExceeded", "Job was active longer than specified deadline"};
    if (auto failed = decide_indexes()) return failed;
    if (auto rule = met_success_rule(spec_, state_.succeeded_indexes))
      return job_end{true, "SuccessPolicy", std::move(*rule)};
    return std::nullopt;
  }

  std::optional<job_end> decide_indexes() const {
    if (!state_.per_index) return std::nullopt;
    const auto failed = state_.failed_indexes.size();
    if (spec_.has_max_failed_indexes() && failed > spec_.max_failed_indexes())
      return job_end{false, "MaxFailedIndexesExceeded",
                     "Job has exceeded the specified maximal number of failed indexes"};
    if (failed > 0 && failed + state_.succeeded_indexes.size() >= spec_.completions())
      return job_end{false, "FailedIndexes", "Job has failed indexes"};
    return std::nullopt;
  }

  bool past_deadline() {
    // A Job that is resumed now starts again (note_suspension).
    if (!spec_.has_active_deadline_seconds() || spec_.suspend() || holds(status(), "Suspended") ||
        !status().has_start_time())
      return false;
    // No sum with the deadline: it may be the largest number.
    const auto passed = std::max<std::int64_t>(now_ - status().start_time().seconds(), 0);
    const auto left = spec_.active_deadline_seconds() - passed;
    if (left > 0) next_sync(now_ + std::min(left, defaults::longest_wait_seconds));
    return left <= 0;
  }

  // More pods than the Job asks for: somebody else created them, or the Job was reduced meanwhile.
  void record_surplus() {
    if (!spec_.has_completions() || succeeded() < spec_.completions()) return;
    if (!state_.active.empty())
      tell(true, "TooManyActivePods",
           "Too many active pods running after completion count reached");
    if (succeeded() > spec_.completions())
      tell(true, "TooManySucceededPods",
           "Too many succeeded pods running after completion count reached");
  }

  bool completed() const {
    if (!state_.active.empty()) return false;
    return spec_.has_completions() ? succeeded() >= spec_.completions() : succeeded() > 0;
  }

  // The final condition is set when all pods have finished and are counted: a client that waits for
  // it finds no running pod (KEP-3939).
  void finish(const job_end& end) {
    set(end.success ? "SuccessCriteriaMet" : "FailureTarget", true, end.reason, end.message);
    for (const auto* pod : state_.active)
      remove(*pod);
    if (!state_.active.empty() || state_.terminating > 0 || uncounted_) return;
    set(end.success ? "Complete" : "Failed", true, end.reason, end.message);
    if (end.success) {
      status().mutable_completion_time()->set_seconds(now_);
      return tell(false, "Completed", "Job completed");
    }
    tell(true, end.reason, end.message);
  }

  void note_suspension(bool suspended) {
    const bool was = holds(status(), "Suspended");
    if (suspended == was) return;
    if (suspended) {
      set("Suspended", true, "JobSuspended", "Job suspended");
      return tell(false, "Suspended", "Job suspended");
    }
    set("Suspended", false, "JobResumed", "Job resumed");
    tell(false, "Resumed", "Job resumed");
    set_start();
  }

  // -- counting -----------------------------------------------------------------------------------

  void count_ended(bool ending) {
    index_set counted_indexes;
    if (state_.indexed)
      counted_indexes = index_set::parse(status().completed_indexes(), spec_.completions());
    for (const auto& pod : pods_) {
      if (!pod.tracked || !(pod.succeeded || pod.failed)) continue;
      const bool stays = !ending && !job_.metadata().has_deletion_timestamp();
      if (stays && state_.is_kept_for_index(pod)) continue;
      if (plan_.release.size() == defaults::counted_pods) {
        uncounted_ = true;
        break;
      }
      const bool counts = state_.is_uncounted(pod);
      release(pod);
      if (state_.indexed && pod.succeeded) {
        if (state_.valid_index(pod)) counted_indexes.insert(pod.index);
      } else if (!counts) {
        continue;
      } else if (pod.failed) {
        const bool ignored = state_.failure_of(pod).action == failure_action::ignore;
        status().set_failed(status().failed() + !ignored);
      } else {
        status().set_succeeded(status().succeeded() + 1);
        --new_succeeded_left_;
      }
    }
    if (!state_.indexed) return;
    status().set_completed_indexes(counted_indexes.str());
    status().set_succeeded(static_cast<std::int32_t>(counted_indexes.size()));
    if (state_.per_index) status().set_failed_indexes(state_.failed_indexes.str());
  }

  void release(const job_pod& pod) {
    if (plan_.release.size() < defaults::counted_pods) plan_.release.push_back(pod.object);
  }
  // A surplus pod must not be counted: it loses its finalizer before it is deleted.
  void discard(const job_pod& pod) {
    if (plan_.remove.size() == defaults::burst_pods) return;
    if (pod.tracked && plan_.release.size() == defaults::counted_pods) return;
    if (pod.tracked) release(pod);
    remove(pod);
  }
  void remove(const job_pod& pod) {
    if (plan_.remove.size() < defaults::burst_pods) plan_.remove.push_back(pod.object);
  }

  // -- pods ---------------------------------------------------------------------------------------

  std::int64_t wanted() const {
    const auto active = static_cast<std::int64_t>(state_.active.size());
    const std::int64_t parallelism = spec_.parallelism();
    if (!spec_.has_completions())
      return succeeded() > 0 ? std::min(active, parallelism) : parallelism;
    const auto left =
        spec_.completions() - succeeded() - (state_.per_index ? state_.failed_indexes.size() : 0);
    return std::clamp<std::int64_t>(left, 0, parallelism);
  }

  void manage() {
    remove_misplaced();
    const auto want = wanted();
    const auto active = static_cast<std::int64_t>(state_.active.size());
    if (active > want)
      remove_lowest({state_.active.begin(), state_.active.end()},
                    static_cast<std::size_t>(active - want));
    // A sync either deletes or creates, as upstream.
    if (!plan_.remove.empty()) return;
    const auto more = want - active - (replaces_failed_only(spec_) ? state_.terminating : 0);
    if (more <= 0) return;
    const auto count = std::min<std::int64_t>(more, defaults::burst_pods);
    if (state_.per_index) return create_after_own_backoff(count);
    const auto& failures = plan_.failures;
    if (const auto at = backoff_ends_at(failures.failures, failures.last_failure); at > now_)
      return next_sync(at);
    if (!state_.indexed) return plan_.create.assign(static_cast<std::size_t>(count), {});
    each_pending_index(count, [&](std::int32_t index, const index_state*) {
      plan_.create.push_back({.index = index});
      return true;
    });
  }

  void create_after_own_backoff(std::int64_t count) {
    each_pending_index(count, [&](std::int32_t index, const index_state* state) {
      planned_pod pod{.index = index};
      if (state != nullptr && state->latest_failed != nullptr) {
        const auto& failed = *state->latest_failed;
        const bool ignored = state_.failure_of(failed).action == failure_action::ignore;
        pod.index_failures = failed.index_failures + !ignored;
        pod.index_ignored = failed.index_ignored + ignored;
        const auto at = backoff_ends_at(pod.index_failures + pod.index_ignored, failed.finished_at);
        if (at > now_) {
          next_sync(at);
          return false;
        }
      }
      plan_.create.push_back(pod);
      return true;
    });
  }

  // Calls `use` for indexes that need a pod, in order, until `use` has taken `count` of them.
  template <class F>
  void each_pending_index(std::int64_t count, F use) const {
    for (auto i = first_open(0); i < spec_.completions() && count > 0; i = first_open(i + 1)) {
      const auto index = static_cast<std::int32_t>(i);
      const auto found = state_.indexes.find(index);
      const auto* state = found == state_.indexes.end() ? nullptr : &found->second;
      if (state != nullptr &&
          (state->active || (state->terminating && replaces_failed_only(spec_))))
        continue;
      count -= use(index, state);
    }
  }

  // The first index from `from` on that has neither succeeded nor failed.
  std::int64_t first_open(std::int64_t from) const {
    for (;;) {
      const auto next =
          state_.failed_indexes.first_absent(state_.succeeded_indexes.first_absent(from));
      if (next == from) return from;
      from = next;
    }
  }

  // Removes pods of invalid or completed indexes, and duplicates of an index.
  void remove_misplaced() {
    // A discarded pod: it must be deleted, because it would not be counted.
    for (const auto* pod : state_.active)
      if (!pod->tracked) discard(*pod);
    if (!state_.indexed || !plan_.remove.empty()) return;
    std::map<std::int32_t, std::vector<const job_pod*>> by_index;
    for (const auto* pod : state_.active) {
      if (!state_.valid_index(*pod) || state_.succeeded_indexes.contains(pod->index) ||
          state_.failed_indexes.contains(pod->index))
        discard(*pod);
      else
        by_index[pod->index].push_back(pod);
    }
    for (auto& [index, pods] : by_index)
      if (pods.size() > 1) remove_lowest(pods, pods.size() - 1);
  }

  void remove_lowest(const std::vector<const job_pod*>& pods) { remove_lowest(pods, pods.size()); }
  void remove_lowest(std::vector<const job_pod*> pods, std::size_t count) {
    std::sort(pods.begin(), pods.end(), [](const auto* a, const auto* b) {
      return rank_for_removal(*a) < rank_for_removal(*b);
    });
    for (std::size_t i = 0; i < count; ++i) {
      const auto planned = std::find(plan_.remove.begin(), plan_.remove.end(), pods[i]->object);
      if (planned == plan_.remove.end()) discard(*pods[i]);
    }
  }

  const Job& job_;
  const JobSpec& spec_;
  const std::vector<job_pod>& pods_;
  const failure_record& known_;
  const std::int64_t now_;
  job_plan plan_;

  const job_state state_;
  std::int32_t new_succeeded_left_ = state_.new_succeeded;  // not in the status yet
  bool uncounted_ = false;  // more have finished than one transaction counts
};

}  // namespace

job_plan make_plan(const Job& job, const std::vector<job_pod>& pods, const failure_record& known,
                   std::int64_t now) {
  return planner{job, pods, known, now}.make();
}

bool is_finished(const Job& job) {
  return holds(job.status(), "Complete") || holds(job.status(), "Failed");
}

std::int64_t finished_at(const Job& job) {
  for (const auto& condition : job.status().conditions())
    if ((condition.type() == "Complete" || condition.type() == "Failed") &&
        condition.status() == "True")
      return condition.last_transition_time().seconds();
  return 0;
}

bool is_managed_elsewhere(const Job& job) {
  return job.spec().has_managed_by() && job.spec().managed_by() != built_in_manager;
}

std::int64_t backoff_ends_at(std::int32_t failures, std::int64_t last) {
  if (failures <= 0) return 0;
  constexpr int most_doublings = 10;
  const auto delay = defaults::failure_backoff_seconds << std::min(failures - 1, most_doublings);
  return last + std::min(delay, defaults::failure_backoff_longest_seconds);
}

}  // namespace troupe::actors::jobs
