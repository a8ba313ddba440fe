#include "actors/controllers/replication/replica_controller.hpp"

#include <fmt/format.h>

#include "actors/controllers/claims.hpp"
#include "actors/controllers/replication/defaults.hpp"
#include "actors/core/condition.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::replication {

replica_controller::replica_controller(std::string key, core_actors core,
                                       const persistence::store& store)
    : key_{std::move(key)}, core_{std::move(core)}, store_{store} {}

const runtime::behavior& replica_controller::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&replica_controller::on_owner_event, &replica_controller::on_pod,
                        &replica_controller::on_resync_request, &replica_controller::on_sync_due);
  return table;
}

void replica_controller::started() {
  resync_timer_ = every(defaults::resync_period, [this] { resync(); });
  resync();
}

std::string replica_controller::describe() const {
  if (!owner_) return "loaded: false\n";
  const auto counts = tally_.counts(wall_seconds());
  return fmt::format(
      "key: {}\nreplicas: {}\npods: {}\nactive: {}\nwaitForNodes: {}\nready: {}\nsyncing: {}\n"
      "expectationsMet: {}\n"
      "toAdopt: {}\ntoRelease: {}\nsyncs: {}\ncreated: {}\ndeleted: {}\nlastFailure: {}\n",
      key_, owner_->replicas(), tally_.size(), counts.active, counts.waiting, counts.ready,
      syncing_, expectations_.satisfied(now()), to_adopt_.size(), to_release_.size(), syncs_,
      created_, deleted_,
      full_      ? full_->failure.message
      : failure_ ? failure_->reason
                 : "none");
}

// -- messages from the supervisor -----------------------------------------------------------------

void replica_controller::on_owner_event(const owner_event& change) {
  if (change.gone) return stop();
  if (!loaded_ || change.at <= known_) return;
  if (change.object->revision() <= owner_->object()->revision()) return;
  const replica_owner changed{change.object};
  // Other pods are its own now.
  if (changed.uid() != owner_->uid() || changed.selector() != owner_->selector()) return resync();
  take_owner(change.object);
  enqueue();
}

void replica_controller::on_pod(const dependent_event& change) {
  const auto& event = change.event;
  if (!loaded_ || event.at <= known_) return;
  const auto key = api::key_of(*event.object);
  if (event.type == event_type::deleted) {
    remove_pod(key);
  } else {
    take_pod(key, event.object);
  }
  enqueue();
}

void replica_controller::on_resync_request(const resync_request&) {
  resync();
}

// -- what it knows --------------------------------------------------------------------------------

void replica_controller::resync() {
  stale_ = true;
  enqueue();
}

void replica_controller::fence() {
  fencing_ = true;
  loaded_ = stale_ = false;
  request<commit_done>(core_.writer, commit{std::make_shared<persistence::transaction>()},
                       defaults::write_timeout, [this](const auto& answered) {
                         if (answered) return load();
                         fence_timer_ = after(defaults::fence_retry, [this] { fence(); });
                       });
}

// Nothing is under way: what was expected is in the snapshot or will never be.
void replica_controller::load() {
  const auto state = store_.read();
  auto object = state.find(key_);
  if (!object) return stop();
  loaded_ = true;
  fencing_ = false;
  known_ = state.at();
  tally_.clear();
  to_adopt_.clear();
  to_release_.clear();
  expectations_.forget();
  take_owner(std::move(object));
  const auto prefix = api::kind_of<api::core::v1::Pod>().prefix(owner_->ns());
  state.scan(prefix, {}, [this](std::string_view key, const api::object_ptr& pod) {
    if (judge(owner_->object()->meta(), owner_->selector(), *pod) != claim::ignore)
      take_pod(std::string{key}, pod);
    return true;
  });
  enqueue();
}

void replica_controller::take_owner(api::object_ptr object) {
  owner_.emplace(std::move(object));
  tally_.owner(*owner_);
}

void replica_controller::take_pod(const std::string& key, const api::object_ptr& pod) {
  const auto claimed = judge(owner_->object()->meta(), owner_->selector(), *pod);
  if (claimed == claim::ignore) return remove_pod(key);
  to_adopt_.erase(key);
  to_release_.erase(key);
  auto record = read_pod(pod);
  // Finished pods and those on their way out change hands no more (upstream claims active ones).
  if (claimed == claim::adopt) {
    if (record.active()) to_adopt_.emplace(key, pod);
    return;
  }
  if (claimed == claim::release) {
    remove_pod(key);
    if (record.active()) to_release_.emplace(key, pod);
    return;
  }
  expectations_.creation_observed(key);
  if (record.deleting) expectations_.deletion_observed(key);
  tally_.put(key, std::move(record));
}

void replica_controller::remove_pod(const std::string& key) {
  to_adopt_.erase(key);
  to_release_.erase(key);
  expectations_.creation_observed(key);
  expectations_.deletion_observed(key);
  tally_.remove(key);
}

// A claim failed: the present state of the pod decides whether the next sync claims it again. No
// message would bring a change of its controller meanwhile.
void replica_controller::claim_again(const std::string& key) {
  retry_ = true;
  const auto pod = store_.read().find(key);
  if (!pod || !read_pod(pod).active()) return;
  const auto claimed = judge(owner_->object()->meta(), owner_->selector(), *pod);
  if (claimed == claim::adopt) to_adopt_[key] = pod;
  if (claimed == claim::release) to_release_[key] = pod;
}

void replica_controller::record(bool warning, std::string reason, std::string message) {
  tell(core_.recorder, record_event{.about = owner_->object(),
                                    .warning = warning,
                                    .reason = std::move(reason),
                                    .message = std::move(message),
                                    .component = std::string{owner_->component()},
                                    .field_path = {},
                                    .host = {}});
}

persistence::change_cause replica_controller::change_cause() const {
  return {.request = current_cause().request,
          .trigger = current_cause().revision,
          .author = std::string{owner_->component()} + "/" + owner_->ns() + "/" + owner_->name()};
}

std::int64_t replica_controller::wall_seconds() const {
  return seconds_of(wall_now());
}

}  // namespace troupe::actors::replication
