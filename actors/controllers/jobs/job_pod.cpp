#include "actors/controllers/jobs/job_pod.hpp"

#include <algorithm>
#include <string>

#include "actors/controllers/kit/claims.hpp"
#include "actors/controllers/kit/pod_template.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/finalizers.hpp"
#include "actors/core/labels.hpp"
#include "actors/core/pod_health.hpp"
#include "api/scheme.hpp"
#include "api/strategy/strategy.hpp"
#include "api/values/integer.hpp"

namespace troupe::actors::jobs {

using api::batch::v1::Job;
using api::batch::v1::JobSpec;
using api::core::v1::Container;
using api::core::v1::Pod;

namespace {

// kubernetes: job.podGenerateNameWithIndex; leaves room for the random suffix.
constexpr std::size_t generated_name_bytes = 58;

std::int32_t number_in(const Pod& pod, const char* name, std::int32_t otherwise) {
  const auto value = api::parse_integer<std::int32_t>(annotation_of(pod.metadata(), name));
  return value && *value >= 0 ? *value : otherwise;
}

// kubernetes: job.getFinishedTime.
std::int64_t finished_at(const Pod& pod) {
  std::int64_t latest = 0;
  for (const auto& container : pod.status().container_statuses())
    latest = std::max(latest, container.state().terminated().finished_at().seconds());
  if (latest != 0) return latest;
  const auto* ready = find_condition(pod.status().conditions(), "Ready");
  if (ready != nullptr && ready->status() == "False")
    return ready->last_transition_time().seconds();
  const auto& meta = pod.metadata();
  return meta.has_deletion_timestamp() ? meta.deletion_timestamp().seconds()
                                       : meta.creation_timestamp().seconds();
}

std::int32_t restarts(const Pod& pod) {
  std::int32_t total = 0;
  for (const auto* all :
       {&pod.status().container_statuses(), &pod.status().init_container_statuses()})
    for (const auto& each : *all)
      total += each.restart_count();
  return total;
}

void add_index_variable(Container& container) {
  const auto& all = container.env();
  if (std::any_of(all.begin(), all.end(),
                  [](const auto& each) { return each.name() == index_variable; }))
    return;
  auto& variable = *container.add_env();
  variable.set_name(index_variable);
  auto& field = *variable.mutable_value_from()->mutable_field_ref();
  field.set_api_version("v1");
  field.set_field_path("metadata.labels['" + std::string{index_annotation} + "']");
}

void add_index(Pod& pod, const Job& job, const planned_pod& plan) {
  const auto index = std::to_string(plan.index);
  auto& meta = *pod.mutable_metadata();
  (*meta.mutable_annotations())[index_annotation] = index;
  (*meta.mutable_labels())[index_annotation] = index;
  const auto suffix = "-" + index + "-";
  const auto& name = job.metadata().name();
  meta.set_generate_name(
      name.substr(0, generated_name_bytes - std::min(suffix.size(), generated_name_bytes)) +
      suffix);
  auto& spec = *pod.mutable_spec();
  spec.set_hostname(name + "-" + index);
  for (auto& each : *spec.mutable_containers())
    add_index_variable(each);
  for (auto& each : *spec.mutable_init_containers())
    add_index_variable(each);
  if (!job.spec().has_backoff_limit_per_index()) return;
  auto& annotations = *meta.mutable_annotations();
  annotations[index_failures_annotation] = std::to_string(plan.index_failures);
  if (plan.index_ignored > 0)
    annotations[index_ignored_annotation] = std::to_string(plan.index_ignored);
}

}  // namespace

bool is_indexed(const JobSpec& job) {
  return job.completion_mode() == "Indexed";
}

bool replaces_failed_only(const JobSpec& job) {
  return job.pod_replacement_policy() == "Failed" || job.has_pod_failure_policy();
}

bool has_tracking_finalizer(const api::object& pod) {
  return has_finalizer(pod.meta(), tracking_finalizer);
}

std::unique_ptr<api::body> without_tracking_finalizer(const api::object& pod) {
  auto copy = without_finalizer(pod, tracking_finalizer);
  if (api::ends_deletion(pod.kind(), *copy, pod.content())) return nullptr;
  return copy;
}

const Pod& job_pod::body() const {
  return object->as<Pod>();
}

job_pod read_pod(const api::object_ptr& pod, const JobSpec& job) {
  const auto& body = pod->as<Pod>();
  const auto& phase = body.status().phase();
  const auto& meta = pod->meta();
  const bool deleting = meta.has_deletion_timestamp();
  const bool ended = is_terminated(body);
  // The result of a pod without a node, or without grace left, is unknown: it counts as failed.
  const bool lost =
      deleting && (body.spec().node_name().empty() || meta.deletion_grace_period_seconds() == 0);
  job_pod result;
  result.object = pod;
  if (is_indexed(job)) result.index = number_in(body, index_annotation, -1);
  result.index_failures = number_in(body, index_failures_annotation, 0);
  result.index_ignored = number_in(body, index_ignored_annotation, 0);
  result.tracked = has_tracking_finalizer(*pod);
  result.succeeded = phase == "Succeeded";
  // A pod that was deleted as surplus is not a failure.
  const bool discarded = deleting && !result.tracked;
  result.failed = !discarded && (phase == "Failed" || (deleting && !result.succeeded &&
                                                       (lost || !replaces_failed_only(job))));
  result.terminating = deleting && !ended;
  result.active = !ended && !deleting;
  result.ready = result.active && is_ready(body);
  if (result.succeeded || result.failed) result.finished_at = finished_at(body);
  if (phase == "Running" || phase == "Pending") result.restarts = restarts(body);
  return result;
}

removal_rank rank_for_removal(const job_pod& pod) {
  const auto& body = pod.body();
  return {.assigned = !body.spec().node_name().empty(),
          .running = body.status().phase() == "Running",
          .ready = pod.ready,
          .age = -body.metadata().creation_timestamp().seconds(),
          .uid = body.metadata().uid()};
}

std::unique_ptr<Pod> make_pod(const api::object& owner, const planned_pod& plan) {
  const auto& job = owner.as<Job>();
  auto pod = pod_from_template(owner.meta(), job.spec().template_());
  auto& meta = *pod->mutable_metadata();
  set_finalizer(meta, tracking_finalizer, true);
  add_controller_reference(owner, meta);
  if (plan.index >= 0) add_index(*pod, job, plan);
  return pod;
}

}  // namespace troupe::actors::jobs
