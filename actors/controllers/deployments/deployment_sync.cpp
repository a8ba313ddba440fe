// One sync of a Deployment, step by step. The first step that sends something ends the sync: what
// it brings about wakes the next one.
#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <utility>

#include "actors/controllers/claims.hpp"
#include "actors/controllers/deployments/defaults.hpp"
#include "actors/controllers/deployments/deployment_controller.hpp"
#include "actors/controllers/deployments/template_hash.hpp"
#include "actors/core/condition.hpp"
#include "actors/write/creation.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::deployments {

using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;
using api::core::v1::Pod;

// -- when to sync ---------------------------------------------------------------------------------

void deployment_controller::enqueue() {
  dirty_ = true;
  if (syncing_ || due_) return;
  due_ = true;
  tell(self(), sync_due{});
}

void deployment_controller::on_sync_due(const sync_due&) {
  due_ = false;
  if (loaded_ && dirty_ && !syncing_) sync();
}

void deployment_controller::sync() {
  ++syncs_;
  syncing_ = true;
  dirty_ = retry_ = false;
  failure_.reset();
  retry_timer_.cancel();
  ++under_way_;  // the sync itself: it ends when this and all it sent are done
  if (!claim_sets()) {
    std::vector<set_view> sets;
    for (const auto& [key, set] : sets_)
      sets.emplace_back(set);
    const auto family = sort_out(*deployment_, std::move(sets));
    note_pause();
    if (!deployment_->deleting() && !keep_revision(family)) {
      if (deployment_->spec().paused() || resized(*deployment_, family)) {
        if (!scale_family(family) && deployment_->spec().paused()) clean_up(family);
      } else {
        const bool moved = deployment_->rolling() ? roll(family) : recreate(family);
        if (!moved && complete(*deployment_)) clean_up(family);
      }
    }
    report(family);
  }
  --under_way_;
  if (under_way_ == 0) end_sync();
}

void deployment_controller::end_sync() {
  syncing_ = false;
  if (retry_ || failure_) {
    backoff_ =
        std::clamp<runtime::duration>(backoff_ * 2, defaults::retry_first, defaults::retry_longest);
    retry_timer_ = after(backoff_, [this] { load(); });
  } else {
    backoff_ = runtime::duration{0};
  }
  const auto left = deadline_in(*deployment_, deployment_->body().status(), wall_seconds());
  deadline_timer_.cancel();
  if (left)
    deadline_timer_ =
        after(std::chrono::seconds{std::max<std::int64_t>(*left, 0) + 1}, [this] { enqueue(); });
  if (dirty_) enqueue();
}

// -- transactions ---------------------------------------------------------------------------------

template <class F>
void deployment_controller::write(persistence::transaction transaction, F on_success) {
  ++under_way_;
  transaction.cause = change_cause();
  request<commit_done>(
      core_.writer, commit{std::make_shared<persistence::transaction>(std::move(transaction))},
      defaults::write_timeout, [this, on_success = std::move(on_success)](const auto& answered) {
        if (answered && (*answered)->result) {
          on_success((*answered)->result->objects.front());
        } else {
          retry_ = true;  // decided on stale knowledge, or the disk is ill: look again
        }
        if (--under_way_ == 0) end_sync();
      });
}

persistence::change_cause deployment_controller::change_cause() const {
  const auto& meta = deployment_->meta();
  return {.request = current_cause().request,
          .trigger = current_cause().revision,
          .author = "deployment-controller/" + meta.namespace_() + "/" + meta.name()};
}

// Writes a newer state of `before`, and takes it in once it is committed.
void deployment_controller::replace(const api::object_ptr& before, std::unique_ptr<api::body> after,
                                    std::string announce) {
  const auto key = api::key_of(*before);
  persistence::transaction transaction;
  transaction.preconditions = {{key, before->revision()}};
  transaction.mutations.push_back({key, &before->kind(), std::move(after)});
  write(std::move(transaction), [this, announce](const api::object_ptr& written) {
    if (&written->kind() == &deployment_->object()->kind()) {
      if (written->revision() > deployment_->object()->revision()) deployment_.emplace(written);
    } else {
      take_set(written);
    }
    if (!announce.empty()) record(false, "ScalingReplicaSet", announce);
    dirty_ = true;
  });
}

// -- claims ---------------------------------------------------------------------------------------

bool deployment_controller::claim_sets() {
  bool sent = false;
  for (const auto& [key, set] : std::map{sets_}) {
    const auto claimed = judge(deployment_->meta(), deployment_->selector(), *set);
    if (claimed != claim::adopt && claimed != claim::release) continue;
    auto changed = set->copy_as<ReplicaSet>();
    persistence::transaction transaction;
    transaction.preconditions = {{key, set->revision()}};
    if (claimed == claim::adopt) {
      // Only if the Deployment is still what the store has: see claims.hpp.
      const auto fresh = store_.read().find(key_);
      if (!fresh || fresh->meta().uid() != deployment_->meta().uid()) continue;
      transaction.preconditions.push_back({key_, fresh->revision()});
      add_controller_reference(*deployment_->object(), *changed->mutable_metadata());
    } else {
      remove_controller_reference(*deployment_->object(), *changed->mutable_metadata());
    }
    transaction.mutations.push_back({key, &set->kind(), std::move(changed)});
    write(std::move(transaction), [this](const api::object_ptr& written) {
      take_set(written);
      dirty_ = true;
    });
    sent = true;
  }
  return sent;
}

// -- revisions ------------------------------------------------------------------------------------

// A pause or its end is noted in the condition Progressing, once.
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

// The present template's set has the highest revision (a rollback makes an old set the newest).
bool deployment_controller::keep_revision(const set_family& family) {
  if (!family.fresh) return false;
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
  replace(set.object(), std::move(changed),
          from == size ? std::string{}
                       : fmt::format("Scaled {} replica set {} from {} to {}",
                                     size > from ? "up" : "down", set.name(), from, size));
  return true;
}

// The Deployment was resized, or is paused: sets keep their proportions.
bool deployment_controller::scale_family(const set_family& family) {
  const auto replicas = deployment_->spec().replicas();
  std::vector<set_view> active;
  for (const auto& set : family.all())
    if (set.wanted() > 0) active.push_back(set);

  // One active set, or none but the newest: it simply gets the size.
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
  if (!deployment_->rolling()) return false;
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
  if (pods_left(family)) {
    // Their end changes their set's status, but pods on their way out no longer count there.
    recheck_timer_ = after(defaults::pods_left_recheck, [this] { enqueue(); });
    return true;
  }
  if (!family.fresh) return make_new_set(family);
  return resize_set(*family.fresh, deployment_->spec().replicas());
}

bool deployment_controller::pods_left(const set_family& family) const {
  bool left = false;
  const auto prefix = api::kind_of<Pod>().prefix(deployment_->meta().namespace_());
  store_.read().scan(prefix, {}, [&](std::string_view, const api::object_ptr& pod) {
    const auto& phase = pod->as<Pod>().status().phase();
    if (phase != "Succeeded" && phase != "Failed") {
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
  add_controller_reference(*deployment_->object(), *set->mutable_metadata());
  const auto name = set->metadata().name();
  const auto& kind = api::kind_of<ReplicaSet>();
  const auto state = store_.read();
  if (const auto taken = state.find(kind.key(deployment_->meta().namespace_(), name))) {
    if (controller_uid(*taken) == deployment_->meta().uid() &&
        same_template(taken->as<ReplicaSet>().spec().template_(),
                      deployment_->spec().template_())) {
      take_set(taken);  // ours: the watcher is only behind
      dirty_ = true;
      return true;
    }
    collided_ = true;
    return true;
  }
  // Its name is longer than its Deployment's, and may be too long.
  auto transaction =
      create_transaction(state, kind, std::move(set), checks::all, wall_now(), random());
  if (!transaction) {
    failure_ = fmt::format("Failed to create new replica set \"{}\": {}", name,
                           transaction.error().message);
    record(true, "ReplicaSetCreateError", *failure_);
    return false;
  }
  note_ =
      progress_note{"NewReplicaSetCreated", fmt::format("Created new replica set \"{}\"", name)};
  write(std::move(*transaction), [this, size, name](const api::object_ptr& written) {
    take_set(written);
    dirty_ = true;
    if (size > 0)
      record(false, "ScalingReplicaSet",
             fmt::format("Scaled up replica set {} from 0 to {}", name, size));
  });
  return true;
}

// -- the rest -------------------------------------------------------------------------------------

void deployment_controller::clean_up(const set_family& family) {
  for (const auto& set : expired_sets(*deployment_, family)) {
    ++under_way_;
    const auto& object = *set.object();
    request<command_done>(core_.writer,
                          remove{.key = set.key(),
                                 .uid = object.meta().uid(),
                                 .at = object.revision(),
                                 .cause = change_cause()},
                          defaults::write_timeout, [this](const auto& answered) {
                            const bool gone = answered && ((*answered)->result ||
                                                           (*answered)->result.error().code == 404);
                            if (!gone) retry_ = true;
                            if (--under_way_ == 0) end_sync();
                          });
  }
}

// Writes the Deployment if anything that it tells has changed: revision, status, a hash collision.
void deployment_controller::report(const set_family& family) {
  auto changed = deployment_->object()->copy_as<Deployment>();
  if (family.fresh && family.fresh->revision() > 0)
    (*changed->mutable_metadata()->mutable_annotations())[revision_annotation] =
        std::to_string(family.fresh->revision());
  auto& status = *changed->mutable_status();
  status = calculate_status(*deployment_, family, note_, failure_, wall_seconds());
  if (std::exchange(collided_, false)) status.set_collision_count(status.collision_count() + 1);
  if (!google::protobuf::util::MessageDifferencer::Equals(*changed, deployment_->body()))
    replace(deployment_->object(), std::move(changed));
}

}  // namespace troupe::actors::deployments
