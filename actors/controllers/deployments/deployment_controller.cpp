// The sync of a Deployment, step by step. The first step that sends a write ends the sync; the
// resulting event triggers the next one.
#include "actors/controllers/deployments/deployment_controller.hpp"

#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <utility>

#include "actors/controllers/deployments/defaults.hpp"
#include "actors/controllers/deployments/template_hash.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/pod_health.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::deployments {

using api::apps::v1::Deployment;
using api::apps::v1::DeploymentStatus;
using api::apps::v1::ReplicaSet;
using api::core::v1::Pod;

std::string deployment_controller::describe() const {
  if (!deployment_) return "loaded: false\n";
  const auto& status = deployment_->body().status();
  return fmt::format(
      "key: {}\nreplicas: {}\nupdated: {}\navailable: {}\nsets: {}\nsyncing: {}\nsyncs: {}\n",
      key(), deployment_->spec().replicas(), status.updated_replicas(), status.available_replicas(),
      dependents().size() + to_claim().size(), syncing(), syncs());
}

void deployment_controller::owner_changed() {
  deployment_.emplace(owner());
}

void deployment_controller::sync() {
  failure_ = std::exchange(refused_, std::nullopt);
  pods_left_ = false;
  if (failed()) return;  // an unadopted set may be the missing one
  std::vector<set_view> sets;
  for (const auto& [key, set] : dependents())
    sets.emplace_back(set);
  const auto family = classify_sets(*deployment_, std::move(sets));
  note_pause();
  if (!deployment_->deleting() && !keep_revision(family)) {
    if (deployment_->spec().paused() || resized(*deployment_, family)) {
      if (!scale_family(family) && deployment_->spec().paused()) clean_up(family);
    } else {
      const bool moved = deployment_->rolling() ? roll(family) : recreate(family);
      if (!moved && is_complete(*deployment_, deployment_->body().status())) clean_up(family);
    }
  }
  report(family);
}

void deployment_controller::after_sync() {
  // The end of a pod causes an event of its set, except if the pod was already terminating.
  if (pods_left_) enqueue_in(defaults::pods_left_recheck);
  // A failed sync has its back-off: the deadline must not shorten that.
  if (failed()) return;
  if (const auto left = deadline_in(*deployment_, deployment_->body().status(), wall_seconds()))
    enqueue_in_seconds(std::max<std::int64_t>(*left, 0) + 1);
}

// -- revisions ------------------------------------------------------------------------------------

// Records a pause or its end in the condition Progressing, once.
void deployment_controller::note_pause() {
  note_.reset();
  const auto* known = find_condition(deployment_->body().status().conditions(), "Progressing");
  const bool noted = known != nullptr && known->reason() == "DeploymentPaused";
  if (known != nullptr && known->reason() == "ProgressDeadlineExceeded") return;
  if (deployment_->spec().paused() && !noted)
    note_ = progress_note{"DeploymentPaused", "Deployment is paused"};
  if (!deployment_->spec().paused() && noted)
    note_ = progress_note{"DeploymentResumed", "Deployment is resumed"};
}

// The current template's set has the highest revision (a rollback makes an old set the newest).
bool deployment_controller::keep_revision(const set_family& family) {
  if (!family.fresh) return false;
  if (!note_ && find_condition(deployment_->body().status().conditions(), "Progressing") == nullptr)
    note_ = progress_note{"FoundNewReplicaSet",
                          fmt::format("Found new replica set \"{}\"", family.fresh->name())};
  auto changed = with_revision(*deployment_, *family.fresh, family.newest_old_revision() + 1);
  if (!changed) return false;
  replace(family.fresh->object(), std::move(changed));
  return true;
}

// -- sizes ----------------------------------------------------------------------------------------

bool deployment_controller::resize_set(const set_view& set, std::int32_t size) {
  auto changed = with_size(*deployment_, set, size);
  if (!changed) return false;
  const auto from = set.wanted();
  replace(set.object(), std::move(changed), [this, from, size, name = set.name()] {
    if (from != size) record_scaled(size > from ? "up" : "down", name, from, size);
  });
  return true;
}

void deployment_controller::record_scaled(const char* direction, const std::string& name,
                                          std::int32_t from, std::int32_t to) {
  const auto message =
      fmt::format("Scaled {} replica set {} from {} to {}", direction, name, from, to);
  log_decision(message);
  record(false, "ScalingReplicaSet", message);
}

// After a resize of the Deployment, or while it is paused, sets keep their proportions.
bool deployment_controller::scale_family(const set_family& family) {
  const auto replicas = deployment_->spec().replicas();
  std::vector<set_view> active;
  for (const auto& set : family.all())
    if (set.wanted() > 0) active.push_back(set);

  // With at most one active set, or only the newest, that set gets the whole size.
  if (active.size() <= 1) {
    const auto all = family.all();
    if (active.empty() && all.empty()) return false;
    const auto& only = active.empty() ? all.back() : active.front();
    return resize_set(only, replicas);
  }
  const bool saturated = family.fresh && family.fresh->wanted() == replicas &&
                         family.fresh->desired_when_sized() == replicas &&
                         family.fresh->body().status().available_replicas() == replicas;
  bool sent = false;
  if (saturated) {
    for (const auto& set : family.old)
      if (set.wanted() > 0) sent |= resize_set(set, 0);
    return sent;
  }
  // Sets that a rolling update left before the strategy was changed (upstream stops here).
  if (!deployment_->rolling()) return !deployment_->spec().paused() && recreate(family);
  std::vector<set_size> sizes;
  for (const auto& set : active)
    sizes.push_back(set.size());
  for (const auto& change : scale_in_proportion(replicas, deployment_->posts(), std::move(sizes))) {
    const auto set = std::find_if(active.begin(), active.end(),
                                  [&](const set_view& s) { return s.key() == change.key; });
    sent |= resize_set(*set, change.to);
  }
  return sent;
}

bool deployment_controller::roll(const set_family& family) {
  if (!family.fresh) return make_new_set(family);
  std::vector<set_size> old;
  for (const auto& set : family.old)
    old.push_back(set.size());
  const auto replicas = deployment_->spec().replicas();
  const auto posts = deployment_->posts();
  const auto fresh = family.fresh->size();
  const auto size = fresh.wanted > replicas ? replicas : new_set_size(replicas, posts, fresh, old);
  if (size != fresh.wanted) return resize_set(*family.fresh, size);
  bool sent = false;
  for (const auto& change : shrink_old_sets(replicas, posts, fresh, old)) {
    const auto set = std::find_if(family.old.begin(), family.old.end(),
                                  [&](const set_view& s) { return s.key() == change.key; });
    sent |= resize_set(*set, change.to);
  }
  return sent;
}

bool deployment_controller::recreate(const set_family& family) {
  bool sent = false;
  for (const auto& set : family.old)
    if (set.wanted() > 0) sent |= resize_set(set, 0);
  if (sent) return true;
  pods_left_ = pods_left(family);
  if (pods_left_) return true;
  if (!family.fresh) return make_new_set(family);
  return resize_set(*family.fresh, deployment_->spec().replicas());
}

bool deployment_controller::pods_left(const set_family& family) const {
  bool left = false;
  const auto prefix = api::kind_of<Pod>().prefix(deployment_->meta().namespace_());
  read_store().scan(prefix, {}, [&](std::string_view, const api::object_ptr& pod) {
    if (!is_terminated(pod->as<Pod>())) {
      const auto uid = controller_uid(*pod);
      left = std::any_of(family.old.begin(), family.old.end(),
                         [&](const set_view& set) { return set.object()->meta().uid() == uid; });
    }
    return !left;
  });
  return left;
}

bool deployment_controller::make_new_set(const set_family& family) {
  std::vector<set_size> old;
  for (const auto& set : family.old)
    old.push_back(set.size());
  const auto replicas = deployment_->spec().replicas();
  const auto size = deployment_->rolling()
                        ? new_set_size(replicas, deployment_->posts(), set_size{}, old)
                        : replicas;
  auto set = new_set(*deployment_, family.newest_old_revision() + 1, size);
  const auto name = set->metadata().name();
  const auto set_key = api::kind_of<ReplicaSet>().key(deployment_->meta().namespace_(), name);
  if (const auto taken = read_store().find(set_key)) {
    const bool ours =
        controller_uid(*taken) == deployment_->meta().uid() &&
        same_template(taken->as<ReplicaSet>().spec().template_(), deployment_->spec().template_());
    collided_ = !ours;
    if (ours) {
      refresh(set_key);  // the watcher is behind
      enqueue();
    }
    return true;
  }
  // The set's name is longer than the Deployment's, and may be too long.
  const auto sent = create(
      std::move(set),
      [this, size, name] {
        if (size > 0) record_scaled("up", name, 0, size);
      },
      // The next sync reports it in the status before it retries.
      [this, name](const std::string& problem) { refused_ = record_failed_set(name, problem); });
  if (!sent) {
    failure_ = record_failed_set(name, sent.error().message);
    retry();
    return false;
  }
  note_ =
      progress_note{"NewReplicaSetCreated", fmt::format("Created new replica set \"{}\"", name)};
  return true;
}

std::string deployment_controller::record_failed_set(const std::string& name,
                                                     const std::string& problem) {
  auto message = fmt::format("Failed to create new replica set \"{}\": {}", name, problem);
  record(true, "ReplicaSetCreateError", message);
  return message;
}

// -- status and history ---------------------------------------------------------------------------

void deployment_controller::clean_up(const set_family& family) {
  for (const auto& set : expired_sets(*deployment_, family))
    remove_dependent(set.object());
}

// Writes the Deployment if anything changed: revision, status, collision count.
void deployment_controller::report(const set_family& family) {
  auto changed = owner()->copy_as<Deployment>();
  if (family.fresh && family.fresh->revision() > 0)
    (*changed->mutable_metadata()->mutable_annotations())[revision_annotation] =
        std::to_string(family.fresh->revision());
  auto& status = *changed->mutable_status();
  status = calculate_status(*deployment_, family, note_, failure_, wall_seconds());
  if (std::exchange(collided_, false)) status.set_collision_count(status.collision_count() + 1);
  if (google::protobuf::util::MessageDifferencer::Equals(*changed, deployment_->body())) return;
  log_progress(deployment_->body().status(), status);
  replace(owner(), std::move(changed));
}

// Logs that the rollout has reached another stage.
void deployment_controller::log_progress(const DeploymentStatus& before,
                                         const DeploymentStatus& now) const {
  const auto* was = find_condition(before.conditions(), "Progressing");
  const auto* is = find_condition(now.conditions(), "Progressing");
  if (is == nullptr || (was != nullptr && was->reason() == is->reason())) return;
  log_decision(fmt::format("{}: {}", is->reason(), is->message()));
}

}  // namespace troupe::actors::deployments
