#include "actors/volumes/control/claim_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/core/finalizers.hpp"
#include "actors/core/pod_health.hpp"
#include "actors/defaults.hpp"
#include "actors/volumes/defaults.hpp"
#include "actors/write/commands.hpp"
#include "actors/write/creation.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::volumes {

namespace {

constexpr const char* component = "ephemeral_volume";

bool is_deleted(const api::object& object) {
  return object.meta().has_deletion_timestamp();
}

bool is_claim(const std::string& key) {
  return key.starts_with(api::kind_of<PersistentVolumeClaim>().prefix());
}

std::string claim_key(const Pod& pod, const pod_claim& of) {
  return api::kind_of<PersistentVolumeClaim>().key(pod.metadata().namespace_(), of.claim);
}

bool wants_claims(const Pod& pod) {
  return !pod.metadata().has_deletion_timestamp() && !is_terminated(pod);
}

}  // namespace

claim_controller::claim_controller(const persistence::store* store, core_actors core)
    : informer{core.watcher}, store_{store}, core_{std::move(core)} {}

const runtime::behavior& claim_controller::make_behavior() const {
  static const auto table =
      runtime::handlers(&claim_controller::on_watch_events, &claim_controller::on_watch_ended);
  return table;
}

void claim_controller::started() {
  follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { on_pods(m); },
         {.accept = has_claims});
  for (const auto& prefix :
       {api::kind_of<PersistentVolumeClaim>().prefix(), api::kind_of<PersistentVolume>().prefix()})
    follow(prefix, [this](const watch_events& m) { on_deleted(m); }, {.accept = is_deleted});
  resync_ = every(defaults::resync_period, [this] {
    due_.merge(refused_);
    refused_.clear();
    wake();
  });
}

std::string claim_controller::describe() const {
  return fmt::format("usedClaims: {}\nwaitingToGo: {}\nreleased: {}\nmade: {}\n", users_.size(),
                     deleted_.size(), released_, made_);
}

// -- messages from the watcher --------------------------------------------------------------------

void claim_controller::on_pods(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    current_cause({event.cause.request, event.at});
    const auto key = api::key_of(*event.object);
    const auto& pod = event.object->as<Pod>();
    const bool gone = event.type == event_type::deleted;
    for (const auto& each : claims_of(pod)) {
      const auto claim = claim_key(pod, each);
      if (!gone) {
        users_[claim].insert(key);
      } else if (const auto found = users_.find(claim); found != users_.end()) {
        found->second.erase(key);
        if (found->second.empty()) users_.erase(found);
      }
      if (deleted_.contains(claim)) due_.insert(claim);
      if (!gone && each.ephemeral) due_.insert(key);
    }
  }
  wake();
}

void claim_controller::on_deleted(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    current_cause({event.cause.request, event.at});
    const auto key = api::key_of(*event.object);
    if (event.type == event_type::deleted) {
      deleted_.erase(key);
      // A pod may wait to create another claim with this name.
      if (const auto found = users_.find(key); found != users_.end())
        due_.insert(found->second.begin(), found->second.end());
    } else {
      deleted_.insert(key);
      due_.insert(key);
    }
  }
  wake();
}

void claim_controller::wake() {
  if (!synced()) return;
  const auto state = store_->read();
  while (!due_.empty() && under_way_ < defaults::writes_under_way) {
    const auto key = due_.extract(due_.begin()).value();
    if (key.starts_with(api::kind_of<Pod>().prefix()))
      sync_pod(state, key);
    else
      sync_deleting(state, key);
  }
}

// -- protection -----------------------------------------------------------------------------------

void claim_controller::sync_deleting(const persistence::snapshot& state, const std::string& key) {
  const auto object = state.find(key);
  if (!object) return;
  const auto* finalizer = is_claim(key) ? defaults::claim_protection : defaults::volume_protection;
  if (!has_pending_finalizer(object->meta(), finalizer)) return;
  const bool used = is_claim(key) ? is_used(state, *object)
                                  : object->as<PersistentVolume>().status().phase() == "Bound";
  if (used) return;
  ++released_;
  send(key, succeed(*object, without_finalizer(*object, finalizer)));
}

bool claim_controller::is_used(const persistence::snapshot& state, const api::object& claim) const {
  const auto found = users_.find(api::key_of(claim));
  return found != users_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [&](const auto& key) {
           const auto pod = state.find(key);
           return pod && holds_claim(pod->template as<Pod>(), claim.as<PersistentVolumeClaim>());
         });
}

// -- ephemeral volumes ----------------------------------------------------------------------------

void claim_controller::sync_pod(const persistence::snapshot& state, const std::string& key) {
  const auto object = state.find(key);
  if (!object) return;
  const auto& pod = object->as<Pod>();
  if (!wants_claims(pod)) return;
  for (const auto& each : claims_of(pod)) {
    if (!each.ephemeral) continue;
    const auto claim = state.find(claim_key(pod, each));
    if (!claim)
      make_claim(state, object, each);
    else if (!is_of(claim->as<PersistentVolumeClaim>(), pod))
      refuse(object, each,
             fmt::format("PVC {}/{} was not created for pod {}/{} (pod is not owner)",
                         pod.metadata().namespace_(), each.claim, pod.metadata().namespace_(),
                         pod.metadata().name()));
  }
}

void claim_controller::make_claim(const persistence::snapshot& state, const api::object_ptr& pod,
                                  const pod_claim& missing) {
  auto made = create_transaction(state, api::kind_of<PersistentVolumeClaim>(),
                                 make_ephemeral_claim(pod->as<Pod>(), missing.volume), checks::all,
                                 wall_now(), random());
  if (!made)
    return refuse(pod, missing,
                  fmt::format("create PVC {}/{}: {}", pod->meta().namespace_(), missing.claim,
                              made.error().message));
  ++made_;
  send(api::key_of(*pod), std::move(*made));
}

// The next resync tries again.
void claim_controller::refuse(const api::object_ptr& pod, const pod_claim& missing,
                              const std::string& problem) {
  refused_.insert(api::key_of(*pod));
  tell(core_.recorder,
       record_event{.about = pod,
                    .warning = true,
                    .reason = "FailedBinding",
                    .message = fmt::format("ephemeral volume {}: {}", missing.volume, problem),
                    .component = component});
}

void claim_controller::send(const std::string& key, persistence::transaction transaction) {
  ++under_way_;
  transaction.cause = {.request = current_cause().request,
                       .trigger = current_cause().revision,
                       .author = "claim-controller"};
  request<commit_done>(core_.writer,
                       commit{std::make_shared<persistence::transaction>(std::move(transaction))},
                       actors::defaults::write_timeout, [this, key](const auto& answer) {
                         --under_way_;
                         if (answer && (*answer)->result) return wake();
                         due_.insert(key);
                         if (!again_.pending()) again_ = after(defaults::retry, [this] { wake(); });
                       });
}

}  // namespace troupe::actors::volumes
