#include "actors/controllers/jobs/job_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/controllers/jobs/defaults.hpp"
#include "actors/controllers/kit/defaults.hpp"
#include "actors/write/creation.hpp"
#include "api/equality.hpp"
#include "api/object/object_key.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::jobs {

using api::batch::v1::Job;
using api::core::v1::Pod;

std::string job_controller::describe() const {
  return reconciler::describe() + fmt::format("created: {}\ndeleted: {}\nfailures: {}\n", created_,
                                              deleted_, failures_.failures);
}

void job_controller::sync() {
  plan_ = {};
  if (!owner_in_store()) return resync();
  if (expire() || is_managed_elsewhere(owner()->as<Job>())) return;
  // Pods whose claim failed are not counted, and must not be created again.
  if (failed()) return;
  if (now() < next_look_) return enqueue_in(next_look_ - now());
  next_look_ =
      now() + std::max<runtime::duration>(defaults::sync_pause, actors::defaults::pause_per_object *
                                                                    std::ssize(dependents()));
  const auto& job = owner()->as<Job>();
  std::vector<job_pod> pods;
  pods.reserve(dependents().size());
  for (const auto& [key, pod] : dependents())
    pods.push_back(read_pod(pod, job.spec()));
  plan_ = make_plan(job, pods, failures_, wall_seconds());
  failures_ = plan_.failures;
  then(&job_controller::change_pods);
  write_status();
}

// The current spec may differ from the planned one: the status is written on the revision that the
// plan has used.
void job_controller::write_status() {
  const auto& job = owner()->as<Job>();
  if (plan_.release.empty() && api::same_meaning(plan_.status, job.status())) return;
  persistence::transaction transaction;
  transaction.preconditions = {{key(), owner()->revision()}};
  auto changed = owner()->copy_as<Job>();
  *changed->mutable_status() = plan_.status;
  transaction.mutations.push_back({key(), &owner()->kind(), std::move(changed)});
  for (const auto& pod : plan_.release) {
    const auto pod_key = api::key_of(*pod);
    transaction.preconditions.push_back({pod_key, pod->revision()});
    transaction.mutations.push_back({pod_key, &pod->kind(), without_tracking_finalizer(*pod)});
  }
  send_transaction(std::move(transaction), [this](const answer<commit_done>& answered) {
    for (const auto& pod : plan_.release)
      refresh(api::key_of(*pod));
    refresh(key());
    if (!answered || !(*answered)->result) return retry();
    log_step("changes", key(), (*answered)->result->at);
    for (auto& event : plan_.events) {
      log_decision(event.message);
      record(event.warning, std::move(event.reason), std::move(event.message));
    }
    enqueue();
  });
}

void job_controller::change_pods() {
  if (failed()) return;
  if (!plan_.remove.empty() || !plan_.create.empty())
    log_decision(
        fmt::format("creates {} and deletes {} pods", plan_.create.size(), plan_.remove.size()));
  for (const auto& pod : plan_.remove)
    delete_one(pod);
  batch_ = 1;
  next_ = 0;
  create_batch();
}

// Creates in batches of 1, 2, 4 … until one has a failure, so that a namespace that rejects pods
// gets one request and not 500 (upstream's slow start).
void job_controller::create_batch() {
  if (failed() || next_ == plan_.create.size()) return;
  then(&job_controller::create_batch);
  const auto end = std::min(next_ + std::exchange(batch_, batch_ * 2), plan_.create.size());
  while (next_ < end)
    create_one(plan_.create[next_++]);
}

void job_controller::create_failed(const std::string& message) {
  record(true, "FailedCreate", "Error creating: " + message);
  retry();
}

void job_controller::create_one(const planned_pod& pod) {
  auto transaction = create_transaction(read_store(), api::kind_of<Pod>(), make_pod(*owner(), pod),
                                        checks::done_before, wall_now(), random());
  if (!transaction) {
    // A terminating namespace rejects every pod: that is not a failure of the controller.
    const auto& causes = transaction.error().causes;
    if (!causes.empty() && causes.front().reason == "NamespaceTerminating") return retry();
    return create_failed(transaction.error().message);
  }
  const auto pod_key = transaction->mutations.front().key;
  send_transaction(std::move(*transaction), [this, pod_key](const answer<commit_done>& answered) {
    refresh(pod_key);
    if (!answered) return retry();
    const auto& result = (*answered)->result;
    if (!result) {
      log_failure("creates", pod_key, result.error().message);
      if (result.error().code == persistence::errc::conflict) return retry();
      return create_failed(result.error().message);
    }
    ++created_;
    log_step("creates", pod_key, result->at);
    record(false, "SuccessfulCreate", "Created pod: " + result->objects.front()->meta().name());
    enqueue();
  });
}

void job_controller::delete_one(const api::object_ptr& pod) {
  const auto pod_key = api::key_of(*pod);
  ask_writer<command_done>(
      evict{.pod_key = pod_key, .pod_uid = pod->meta().uid(), .cause = change_cause()},
      [this, pod_key, name = pod->meta().name(), at = pod->revision()](const auto& answered) {
        refresh(pod_key);
        enqueue();
        if (answered && ((*answered)->result || (*answered)->result.error().code == 404)) {
          ++deleted_;
          log_step("removes", pod_key, at);
          return record(false, "SuccessfulDelete", "Deleted pod: " + name);
        }
        if (answered)
          record(true, "FailedDelete", "Error deleting: " + (*answered)->result.error().message);
        retry();
      });
}

// kubernetes: pkg/controller/ttlafterfinished. True if it has expired.
bool job_controller::expire() {
  const auto& job = owner()->as<Job>();
  if (!job.spec().has_ttl_seconds_after_finished() || !is_finished(job)) return false;
  if (owner()->meta().has_deletion_timestamp()) return false;
  const auto left = finished_at(job) + job.spec().ttl_seconds_after_finished() - wall_seconds();
  if (left > 0) {
    enqueue_in_seconds(left);
    return false;
  }
  ask_writer<command_done>(remove{.key = key(),
                                  .uid = owner()->meta().uid(),
                                  .at = owner()->revision(),
                                  .propagation = "Foreground",
                                  .cause = change_cause()},
                           [this](const auto& answered) {
                             if (!answered || !(*answered)->result) return retry();
                             refresh(key());
                             log_decision("is deleted: ttlSecondsAfterFinished has expired");
                           });
  return true;
}

void job_controller::after_sync() {
  if (plan_.next_sync) enqueue_in_seconds(*plan_.next_sync - wall_seconds());
}

}  // namespace troupe::actors::jobs
