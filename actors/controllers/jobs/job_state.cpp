#include "actors/controllers/jobs/job_state.hpp"

#include <algorithm>
#include <utility>

namespace troupe::actors::jobs {

job_state::job_state(const api::batch::v1::Job& job, const std::vector<job_pod>& pods)
    : spec{job.spec()}, indexed{is_indexed(spec)}, per_index{spec.has_backoff_limit_per_index()} {
  const auto& status = job.status();
  if (indexed) {
    succeeded_indexes = index_set::parse(status.completed_indexes(), spec.completions());
    failed_indexes = index_set::parse(status.failed_indexes(), spec.completions());
  }
  const auto& uncounted = status.uncounted_terminated_pods();
  counted.insert(uncounted.succeeded().begin(), uncounted.succeeded().end());
  counted.insert(uncounted.failed().begin(), uncounted.failed().end());
  for (const auto& pod : pods)
    take(pod);
  evaluate_indexes();
}

void job_state::take(const job_pod& pod) {
  if (pod.active) active.push_back(&pod);
  ready += pod.ready;
  terminating += pod.terminating;
  if (pod.succeeded && is_uncounted(pod)) ++new_succeeded;
  // An index is completed once, whichever controller counted the pod.
  if (pod.succeeded && pod.tracked && indexed && valid_index(pod))
    succeeded_indexes.insert(pod.index);
  if (pod.failed && is_uncounted(pod))
    new_failed += failure_of(pod).action != failure_action::ignore;
  if (!indexed || !valid_index(pod)) return;
  auto& index = indexes[pod.index];
  index.active |= pod.active;
  index.terminating |= pod.terminating;
  const auto order = [](const job_pod* of) {
    return std::pair{of->index_failures + of->index_ignored, of->finished_at};
  };
  if (pod.failed && (index.latest_failed == nullptr || order(index.latest_failed) < order(&pod)))
    index.latest_failed = &pod;
}

failure_verdict job_state::failure_of(const job_pod& pod) const {
  if (!spec.has_pod_failure_policy() || !pod.failed) return {};
  return evaluate_failure(spec, pod.body());
}

// An index fails with its first failure beyond the limit, or by the policy.
void job_state::evaluate_indexes() {
  if (!per_index) return;
  for (const auto& [index, state] : indexes) {
    if (state.latest_failed == nullptr || succeeded_indexes.contains(index)) continue;
    const auto action = failure_of(*state.latest_failed).action;
    const bool exceeded = action != failure_action::ignore &&
                          state.latest_failed->index_failures >= spec.backoff_limit_per_index();
    if (action == failure_action::fail_index || exceeded) failed_indexes.insert(index);
  }
}

bool job_state::is_kept_for_index(const job_pod& pod) const {
  if (!per_index || !pod.failed || !valid_index(pod)) return false;
  if (failed_indexes.contains(pod.index) || succeeded_indexes.contains(pod.index)) return false;
  const auto& index = indexes.at(pod.index);
  return index.latest_failed == &pod && !index.active;
}

bool job_state::exceeds_restart_limit(const std::vector<job_pod>& pods) const {
  if (spec.template_().spec().restart_policy() != "OnFailure") return false;
  std::int64_t restarts = 0;
  for (const auto& pod : pods)
    restarts += pod.restarts;
  const auto limit = spec.backoff_limit();
  return limit == 0 ? restarts > 0 : restarts >= limit;
}

failure_record count_failures(const std::vector<job_pod>& pods, const failure_record& known) {
  std::vector<const job_pod*> ended;
  for (const auto& pod : pods)
    if (pod.succeeded || pod.failed) ended.push_back(&pod);
  std::sort(ended.begin(), ended.end(), [](const auto* a, const auto* b) {
    return std::pair{a->finished_at, a->failed} < std::pair{b->finished_at, b->failed};
  });
  std::int64_t last_success = 0;
  failure_record now;
  for (const auto* pod : ended) {
    if (pod->succeeded) {
      now = {};
      last_success = pod->finished_at;
    } else {
      now = {now.failures + 1, pod->finished_at};
    }
  }
  if (known.last_failure <= last_success) return now;
  return {std::max(now.failures, known.failures), std::max(now.last_failure, known.last_failure)};
}

}  // namespace troupe::actors::jobs
