// The part of the binder that writes its decisions as transactions.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "actors/core/condition.hpp"
#include "actors/core/finalizers.hpp"
#include "actors/core/labels.hpp"
#include "actors/core/log.hpp"
#include "actors/defaults.hpp"
#include "actors/volumes/control/volume_binder.hpp"
#include "actors/volumes/defaults.hpp"
#include "actors/volumes/provisioning.hpp"
#include "actors/write/commands.hpp"
#include "actors/write/creation.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::volumes {

namespace {

constexpr const char* author = "persistentvolume-controller";

// kubernetes: registry/core/persistentvolume, strategy.go.
void show_phase(PersistentVolume& volume, const std::string& phase, runtime::wall_time now) {
  auto& status = *volume.mutable_status();
  if (status.phase() == phase && status.has_last_phase_transition_time()) return;
  status.set_phase(phase);
  status.mutable_last_phase_transition_time()->set_seconds(seconds_of(now));
}

void append(persistence::transaction& to, persistence::transaction part) {
  for (auto& each : part.preconditions)
    to.preconditions.push_back(std::move(each));
  for (auto& each : part.mutations)
    to.mutations.push_back(std::move(each));
}

}  // namespace

// -- claims ---------------------------------------------------------------------------------------

void volume_binder::take_step(const persistence::snapshot& state, const api::object_ptr& object,
                              const claim_step& step) {
  using action = claim_step::action;
  if (step.event) record(object, *step.event);
  if (step.todo == action::none) return;
  if (step.todo == action::bind) return bind(object, step.volume);
  if (step.todo == action::expand) return expand(object, step.volume);
  if (step.todo == action::provision) return provision(state, object);
  auto claim = object->copy_as<PersistentVolumeClaim>();
  if (step.todo == action::lose) {
    claim->mutable_status()->set_phase("Lost");
    claim->mutable_status()->clear_access_modes();
    claim->mutable_status()->clear_capacity();
  } else if (step.todo == action::set_class) {
    claim->mutable_spec()->set_storage_class_name(step.class_name);
  } else {
    auto& annotations = *claim->mutable_metadata()->mutable_annotations();
    annotations[defaults::storage_provisioner] = step.provisioner;
    annotations[defaults::storage_provisioner_beta] = step.provisioner;
  }
  commit_for(object, change(object, std::move(claim)));
}

void volume_binder::bind(const api::object_ptr& claim, const api::object_ptr& volume) {
  const auto& claim_body = claim->as<PersistentVolumeClaim>();
  auto bound = bound_volume(volume->as<PersistentVolume>(), claim_body);
  show_phase(*bound, "Bound", wall_now());
  auto transaction = change(claim, bound_claim(claim_body, *bound));
  append(transaction, change(volume, std::move(bound)));
  commit_for(claim, std::move(transaction), [this, claim, volume] {
    ++bound_;
    log().info("claim {}: bound to volume {}", api::key_of(*claim), volume->meta().name());
  });
}

// A directory has no size limit: its capacity is what the claim requests.
void volume_binder::expand(const api::object_ptr& claim, const api::object_ptr& volume) {
  const auto& claim_body = claim->as<PersistentVolumeClaim>();
  auto larger = volume->copy_as<PersistentVolume>();
  (*larger->mutable_spec()->mutable_capacity())["storage"].set_string(requested(claim_body).str());
  auto transaction = change(claim, bound_claim(claim_body, *larger));
  append(transaction, change(volume, std::move(larger)));
  commit_for(claim, std::move(transaction), [this, claim] {
    record(claim, {false, "VolumeResizeSuccessful", "Resize volume succeeded"});
  });
}

void volume_binder::provision(const persistence::snapshot& state, const api::object_ptr& object) {
  const auto& claim = object->as<PersistentVolumeClaim>();
  const auto& storage_class = classes_.at(class_of(claim))->as<StorageClass>();
  const auto fail = [&](const std::string& problem) {
    record(object, {true, "ProvisioningFailed",
                    fmt::format("Failed to provision volume with StorageClass \"{}\": {}",
                                storage_class.metadata().name(), problem)});
  };
  if (const auto problem = check_provisioning(storage_class, claim)) return fail(*problem);
  const auto& selected = annotation_of(claim.metadata(), defaults::selected_node);
  const auto node = selected.empty() ? choose_node(state, storage_class)
                                     : state.find(api::kind_of<Node>().key({}, selected));
  if (!selected.empty() && (!node || !allows(storage_class, node->as<Node>())))
    return ask_for_another_node(
        object, fmt::format("node \"{}\" is not there or not allowed by the class", selected));
  if (!node) return fail("no node is ready that may keep it");
  auto volume = make_volume(claim, storage_class, node->as<Node>());
  const auto name = volume->metadata().name();
  auto bound = bound_claim(claim, *volume);
  auto made = create_transaction(state, api::kind_of<PersistentVolume>(), std::move(volume),
                                 checks::done_before, wall_now(), random());
  if (!made) return fail(made.error().message);
  show_phase(static_cast<PersistentVolume&>(*made->mutations.front().content), "Bound", wall_now());
  append(*made, change(object, std::move(bound)));
  made->cause.author = author;
  commit_for(object, std::move(*made), [this, object, name] {
    ++provisioned_;
    record(object, {false, "ProvisioningSucceeded",
                    fmt::format("Successfully provisioned volume {}", name)});
  });
}

// Selects a ready node; the search starts at a random one.
api::object_ptr volume_binder::choose_node(const persistence::snapshot& state,
                                           const StorageClass& storage_class) {
  if (ready_.empty()) return nullptr;
  const auto first = random()() % ready_.size();
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    const auto& name = ready_[(first + i) % ready_.size()];
    auto node = state.find(api::kind_of<Node>().key({}, name));
    if (node && allows(storage_class, node->as<Node>())) return node;
  }
  return nullptr;
}

// The scheduler selects another node once the annotation is removed.
void volume_binder::ask_for_another_node(const api::object_ptr& claim, const std::string& problem) {
  record(claim, {true, "ProvisioningFailed", "Failed to provision volume: " + problem});
  auto changed = claim->copy_as<PersistentVolumeClaim>();
  changed->mutable_metadata()->mutable_annotations()->erase(defaults::selected_node);
  commit_for(claim, change(claim, std::move(changed)));
}

// -- volumes --------------------------------------------------------------------------------------

void volume_binder::change_volume(const api::object_ptr& object, const volume_step& step) {
  if (step.event) record(object, *step.event);
  auto volume = object->copy_as<PersistentVolume>();
  if (step.unbind) {
    auto& annotations = *volume->mutable_metadata()->mutable_annotations();
    if (annotations.erase(defaults::bound_by_controller) > 0) {
      volume->mutable_spec()->clear_claim_ref();
    } else {
      volume->mutable_spec()->mutable_claim_ref()->clear_uid();
      volume->mutable_spec()->mutable_claim_ref()->clear_resource_version();
    }
  }
  if (!step.phase.empty()) {
    show_phase(*volume, step.phase, wall_now());
    volume->mutable_status()->set_message(step.message);
    if (step.message.empty()) volume->mutable_status()->clear_message();
  }
  if (step.release)
    set_finalizer(*volume->mutable_metadata(), defaults::local_path_finalizer, false);
  commit_for(object, change(object, std::move(volume)));
}

void volume_binder::remove_volume(const api::object_ptr& volume) {
  const key_set keys{api::key_of(*volume)};
  busy_.insert(keys.begin(), keys.end());
  ++under_way_;
  remove command{.key = *keys.begin(), .uid = volume->meta().uid(), .at = volume->revision()};
  command.cause.author = author;
  request<command_done>(core_.writer, std::move(command), actors::defaults::write_timeout,
                        [this, keys, name = volume->meta().name()](const auto& answer) {
                          const bool done = answer && (*answer)->result;
                          removed_ += done ? 1 : 0;
                          if (done) log().info("volume {}: its claim has gone, it goes too", name);
                          answered(keys, done);
                        });
}

// -- writing --------------------------------------------------------------------------------------

// After a failure the next resync tries again.
void volume_binder::make_class() {
  const auto failed = [](std::string_view problem) {
    log().warn("storage class {}: not created, retrying: {}", defaults::local_path_class, problem);
  };
  auto made =
      create_transaction(store_->read(), api::kind_of<StorageClass>(), make_local_path_class(),
                         checks::done_before, wall_now(), random());
  if (!made) return failed(made.error().message);
  made->cause.author = author;
  request<commit_done>(core_.writer,
                       commit{std::make_shared<persistence::transaction>(std::move(*made))},
                       actors::defaults::write_timeout, [failed](const auto& answer) {
                         if (!answer) return failed("no answer from the writer");
                         const auto& result = (*answer)->result;
                         // A conflict means that the class exists.
                         if (!result && result.error().code != persistence::errc::conflict)
                           failed(result.error().message);
                       });
}

persistence::transaction volume_binder::change(const api::object_ptr& before,
                                               std::unique_ptr<api::body> after) const {
  auto transaction = succeed(*before, std::move(after));
  transaction.cause = {
      .request = current_cause().request, .trigger = before->revision(), .author = author};
  return transaction;
}

void volume_binder::commit_for(const api::object_ptr& about, persistence::transaction transaction,
                               std::function<void()> done) {
  key_set keys{api::key_of(*about)};
  for (const auto& each : transaction.mutations)
    keys.insert(each.key);
  busy_.insert(keys.begin(), keys.end());
  ++under_way_;
  request<commit_done>(
      core_.writer, commit{std::make_shared<persistence::transaction>(std::move(transaction))},
      actors::defaults::write_timeout, [this, keys, done = std::move(done)](const auto& answer) {
        const bool succeeded = answer && (*answer)->result;
        if (succeeded && done) done();
        answered(keys, succeeded);
      });
}

// Keys changed meanwhile are synced at once, failed ones after a pause.
void volume_binder::answered(const key_set& keys, bool succeeded) {
  --under_way_;
  for (const auto& key : keys) {
    busy_.erase(key);
    if (succeeded && later_.erase(key) > 0) enqueue(key);
  }
  if (!succeeded) {
    later_.insert(keys.begin(), keys.end());
    if (again_.pending()) return wake();
    again_ = after(defaults::retry, [this] {
      enqueue(std::exchange(later_, {}));
      wake();
    });
  }
  wake();
}

void volume_binder::record(const api::object_ptr& about, const note& event) {
  tell(core_.recorder, record_event{.about = about,
                                    .warning = event.warning,
                                    .reason = event.reason,
                                    .message = event.message,
                                    .component = author});
}

}  // namespace troupe::actors::volumes
