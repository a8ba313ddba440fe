#include "actors/controllers/stateful_sets/stateful_set_controller.hpp"

#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>

#include "actors/controllers/kit/share.hpp"
#include "actors/controllers/stateful_sets/defaults.hpp"
#include "actors/core/labels.hpp"
#include "actors/core/pod_health.hpp"

namespace troupe::actors::stateful_sets {

using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;

namespace {

// The label of a StatefulSet's revisions (kubernetes: history.ControllerRevisionHashLabel).
constexpr const char* hash_label = "controller.kubernetes.io/hash";

}  // namespace

// -- state ----------------------------------------------------------------------------------------

bool stateful_set_controller::claimable(const api::object_ptr& object) const {
  if (is_pod(*object)) return ordinal_of(owner()->meta().name(), object->meta().name()).has_value();
  return is_revision(*object);
}

set_pods stateful_set_controller::read_pods() const {
  set_pods pods;
  const auto now = wall_seconds();
  for (const auto& [key, each] : dependents()) {
    if (!is_pod(*each)) continue;
    const auto ordinal = ordinal_of(owner()->meta().name(), each->meta().name());
    if (!ordinal) continue;
    const auto& pod = each->as<Pod>();
    const auto& phase = pod.status().phase();
    const auto wait = available_in(pod, set().spec().min_ready_seconds(), now);
    const bool ready = phase == "Running" && wait.has_value();
    pods[*ordinal] = {.revision = label_of(*each, pod_revision_label),
                      .failed = phase == "Failed",
                      .succeeded = phase == "Succeeded",
                      .terminating = pod.metadata().has_deletion_timestamp(),
                      .ready = ready,
                      .available = ready && *wait == 0};
  }
  return pods;
}

api::object_ptr stateful_set_controller::pod_of(std::int32_t ordinal) const {
  const auto& meta = owner()->meta();
  const auto found =
      dependents().find(api::kind_of<Pod>().key(meta.namespace_(), pod_name(meta.name(), ordinal)));
  return found == dependents().end() ? nullptr : found->second;
}

void stateful_set_controller::read_rules(const revision_history& revisions) {
  const auto& spec = set().spec();
  const auto& rolling = spec.update_strategy().rolling_update();
  const auto update = revisions.with_data(revision_data(spec.template_()));
  const auto current = revisions.named(set().status().current_revision());
  rules_ = {.start = spec.ordinals().start(),
            .replicas = spec.replicas(),
            .ordered = spec.pod_management_policy() != "Parallel",
            .on_delete = spec.update_strategy().type() == "OnDelete",
            .partition = rolling.partition(),
            .max_unavailable = 1,
            .current = (current ? current : update)->meta().name(),
            .update = update->meta().name(),
            .burst = defaults::burst};
  if (rolling.has_max_unavailable())
    rules_.max_unavailable =
        std::max(share_of(rolling.max_unavailable(), spec.replicas(), rounding::down), 1);
}

// -- one sync -------------------------------------------------------------------------------------

void stateful_set_controller::sync() {
  // Pods and revisions whose claim failed are not known, and must not be created again.
  if (failed() || owner()->meta().has_deletion_timestamp()) return;
  const auto revisions = history();
  const auto& spec = set().spec();
  if (!keep_revision(revisions, spec.template_(), set().status().collision_count(), hash_label))
    return;
  read_rules(revisions);
  then(&stateful_set_controller::report);
  for (const auto& step : plan_set(rules_, read_pods()))
    if (!take_step(step, revisions)) break;
  drop_old_revisions(revisions);
}

void stateful_set_controller::after_sync() {
  enqueue_availability(set().spec().min_ready_seconds());
}

std::unique_ptr<api::body> stateful_set_controller::with_collision() const {
  return add_collision<StatefulSet>(*owner());
}

bool stateful_set_controller::take_step(const set_step& step, const revision_history& revisions) {
  const auto& meta = owner()->meta();
  if (step.action == step_kind::create) return create_pod(step, revisions);
  const auto pod = pod_of(step.ordinal);
  switch (step.action) {
    case step_kind::keep:
      keep_pod(pod, step.ordinal);
      break;
    case step_kind::recreate: {
      const bool failed = pod->as<Pod>().status().phase() == "Failed";
      record(failed, failed ? "RecreatingFailedPod" : "RecreatingTerminatedPod",
             fmt::format("StatefulSet {}/{} is recreating {} Pod {}", meta.namespace_(),
                         meta.name(), failed ? "failed" : "terminated", pod->meta().name()));
      remove_pod(pod);
      break;
    }
    case step_kind::condemn:
      // The owner references of the claims must be set before the pod is deleted.
      if (keep_retention(pod, step.ordinal, true)) remove_pod(pod);
      break;
    default:
      remove_pod(pod);
      break;
  }
  return true;
}

bool stateful_set_controller::create_pod(const set_step& step, const revision_history& revisions) {
  if (!make_missing_claims(step.ordinal)) return true;
  auto from = set().spec().template_();
  if (step.revision != rules_.update) {
    const auto revision = revisions.named(step.revision);
    if (const auto old = revision ? template_of(*revision) : std::nullopt) from = *old;
  }
  const auto object =
      fmt::format("Pod {} in StatefulSet {}", pod_name(owner()->meta().name(), step.ordinal),
                  owner()->meta().name());
  const auto sent = create(
      make_pod(set(), from, step.ordinal, step.revision),
      [this, object] {
        log_decision("creates " + object);
        record(false, "SuccessfulCreate", "create " + object + " successful");
      },
      [this, object](const std::string& problem) { failed_to_create(object, problem); });
  if (!sent) failed_to_create(object, sent.error().message);
  return sent.has_value();
}

void stateful_set_controller::keep_pod(const api::object_ptr& pod, std::int32_t ordinal) {
  if (pod->as<Pod>().status().phase() == "Pending") make_missing_claims(ordinal);
  keep_retention(pod, ordinal, false);
  if (has_identity(pod->as<Pod>(), ordinal)) return;
  auto changed = pod->copy_as<Pod>();
  set_identity(*changed, ordinal);
  replace(pod, std::move(changed));
}

void stateful_set_controller::remove_pod(const api::object_ptr& pod) {
  const auto object =
      fmt::format("Pod {} in StatefulSet {}", pod->meta().name(), owner()->meta().name());
  remove_dependent(pod, [this, object] {
    log_decision("deletes " + object);
    record(false, "SuccessfulDelete", "delete " + object + " successful");
  });
}

// -- claims ---------------------------------------------------------------------------------------

bool stateful_set_controller::make_missing_claims(std::int32_t ordinal) {
  if (set().spec().volume_claim_templates().empty()) return true;
  const auto& name = owner()->meta().name();
  const auto state = read_store();
  bool complete = true;
  for (auto& claim : make_claims(set(), ordinal)) {
    const auto& meta = claim->metadata();
    const auto present =
        state.find(api::kind_of<PersistentVolumeClaim>().key(meta.namespace_(), meta.name()));
    const bool leaves = present && (present->meta().has_deletion_timestamp() ||
                                    (!pod_of(ordinal) && is_deleted_with_pod(*present)));
    if (present && !leaves) continue;
    complete = false;
    if (leaves) {  // the pod waits for the next claim
      retry();
      continue;
    }
    const auto object = fmt::format("Claim {} Pod {} in StatefulSet {}", meta.name(),
                                    pod_name(name, ordinal), name);
    const auto sent = create_beside(
        std::move(claim),
        [this, object](const std::string&) {
          record(false, "SuccessfulCreate", "create " + object + " success");
        },
        [this, object](const std::string& problem) { failed_to_create(object, problem); });
    if (!sent) failed_to_create(object, sent.error().message);
  }
  return complete;
}

bool stateful_set_controller::keep_retention(const api::object_ptr& pod, std::int32_t ordinal,
                                             bool condemned) {
  if (set().spec().volume_claim_templates().empty()) return true;
  const auto& meta = owner()->meta();
  const auto state = read_store();
  bool kept = true;
  for (const auto& claim : set().spec().volume_claim_templates()) {
    const auto present = state.find(api::kind_of<PersistentVolumeClaim>().key(
        meta.namespace_(), claim_name(meta.name(), claim.metadata().name(), ordinal)));
    if (!present || present->meta().has_deletion_timestamp()) continue;
    auto changed = with_retention(*owner(), *pod, condemned, *present);
    if (!changed) continue;
    kept = false;
    replace(present, std::move(changed));
  }
  return kept;
}

// -- status and history ---------------------------------------------------------------------------

void stateful_set_controller::failed_to_create(const std::string& object,
                                               const std::string& problem) {
  record(true, "FailedCreate", fmt::format("create {} failed error: {}", object, problem));
  retry();
}

void stateful_set_controller::report() {
  const auto counts = count_pods(rules_, read_pods());
  auto changed = owner()->copy_as<StatefulSet>();
  auto& status = *changed->mutable_status();
  status.set_observed_generation(owner()->meta().generation());
  status.set_replicas(counts.replicas);
  status.set_ready_replicas(counts.ready);
  status.set_available_replicas(counts.available);
  status.set_current_replicas(counts.current);
  status.set_updated_replicas(counts.updated);
  status.set_current_revision(rules_.current);
  status.set_update_revision(rules_.update);
  if (!status.has_collision_count()) status.set_collision_count(0);
  if (update_is_complete(rules_, counts)) {
    status.set_current_revision(rules_.update);
    status.set_current_replicas(counts.updated);
  }
  if (google::protobuf::util::MessageDifferencer::Equals(*changed, set())) return;
  replace(owner(), std::move(changed));
}

void stateful_set_controller::drop_old_revisions(const revision_history& revisions) {
  std::set<std::string, std::less<>> live{rules_.current, rules_.update};
  for (const auto& [key, each] : dependents())
    if (is_pod(*each)) live.insert(label_of(*each, pod_revision_label));
  truncate(revisions, set().spec().revision_history_limit(), live);
}

}  // namespace troupe::actors::stateful_sets
