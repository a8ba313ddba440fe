#include "actors/replication/replica_controller.hpp"

#include <fmt/format.h>

#include "actors/claims.hpp"
#include "actors/condition.hpp"
#include "actors/replication/defaults.hpp"
#include "api/object_key.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::replication {

replica_controller::replica_controller(std::string key, doors to, const persistence::store& truth)
    : key_{std::move(key)}, to_{std::move(to)}, truth_{truth} {}

const runtime::behavior& replica_controller::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&replica_controller::on_own_change, &replica_controller::on_pod,
                        &replica_controller::on_look_again, &replica_controller::on_sync_due);
  return table;
}

void replica_controller::started() {
  resync_timer_ = every(defaults::resync_period, [this] { look_anew(); });
  look_anew();
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

void replica_controller::on_own_change(const own_change& change) {
  if (change.gone) return stop();
  if (!loaded_ || change.at <= known_) return;
  if (change.object->revision() <= owner_->object()->revision()) return;
  const replica_owner changed{change.object};
  // Other pods are its own now.
  if (changed.uid() != owner_->uid() || changed.selector() != owner_->selector())
    return look_anew();
  take_owner(change.object);
  touch();
}

void replica_controller::on_pod(const related_change& change) {
  const auto& event = change.event;
  if (!loaded_ || event.at <= known_) return;
  const auto key = api::key_of(*event.object);
  if (event.type == event_type::deleted) {
    lose_pod(key);
  } else {
    take_pod(key, event.object);
  }
  touch();
}

void replica_controller::on_look_again(const look_again&) {
  look_anew();
}

// -- what it knows --------------------------------------------------------------------------------

void replica_controller::look_anew() {
  stale_ = true;
  touch();
}

void replica_controller::fence() {
  fencing_ = true;
  loaded_ = stale_ = false;
  request<commit_done>(to_.writer, commit{std::make_shared<persistence::transaction>()},
                       defaults::write_timeout, [this](const auto& answered) {
                         if (answered) return load();
                         fence_timer_ = after(defaults::fence_retry, [this] { fence(); });
                       });
}

// Nothing is under way: what was expected is in the snapshot or will never be.
void replica_controller::load() {
  const auto state = truth_.read();
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
  const auto prefix = api::kind_of<api::core::v1::Pod>().prefix(owner_->space());
  state.scan(prefix, {}, [this](std::string_view key, const api::object_ptr& pod) {
    if (judge(owner_->object()->meta(), owner_->selector(), *pod) != claim::ignore)
      take_pod(std::string{key}, pod);
    return true;
  });
  touch();
}

void replica_controller::take_owner(api::object_ptr object) {
  owner_.emplace(std::move(object));
  tally_.owner(*owner_);
}

void replica_controller::take_pod(const std::string& key, const api::object_ptr& pod) {
  const auto verdict = judge(owner_->object()->meta(), owner_->selector(), *pod);
  if (verdict == claim::ignore) return lose_pod(key);
  to_adopt_.erase(key);
  to_release_.erase(key);
  auto record = read_pod(pod);
  // Finished pods and those on their way out change hands no more (upstream claims active ones).
  if (verdict == claim::adopt) {
    if (record.active()) to_adopt_.emplace(key, pod);
    return;
  }
  if (verdict == claim::release) {
    lose_pod(key);
    if (record.active()) to_release_.emplace(key, pod);
    return;
  }
  expectations_.creation_observed(key);
  if (record.deleting) expectations_.deletion_observed(key);
  tally_.put(key, std::move(record));
}

void replica_controller::lose_pod(const std::string& key) {
  to_adopt_.erase(key);
  to_release_.erase(key);
  expectations_.creation_observed(key);
  expectations_.deletion_observed(key);
  tally_.remove(key);
}

// A claim came to nothing: what the pod is now decides whether the next sync makes it again. Whose
// it has become meanwhile no message would tell.
void replica_controller::claim_again(const std::string& key) {
  retry_ = true;
  const auto pod = truth_.read().find(key);
  if (!pod || !read_pod(pod).active()) return;
  const auto verdict = judge(owner_->object()->meta(), owner_->selector(), *pod);
  if (verdict == claim::adopt) to_adopt_[key] = pod;
  if (verdict == claim::release) to_release_[key] = pod;
}

void replica_controller::record(bool warning, std::string reason, std::string message) {
  tell(to_.recorder, record_event{.about = owner_->object(),
                                  .warning = warning,
                                  .reason = std::move(reason),
                                  .message = std::move(message),
                                  .component = std::string{owner_->component()},
                                  .field_path = {},
                                  .host = {}});
}

persistence::change_cause replica_controller::change_cause() const {
  return {
      .request = why().request,
      .trigger = why().revision,
      .author = std::string{owner_->component()} + "/" + owner_->space() + "/" + owner_->name()};
}

std::int64_t replica_controller::wall_seconds() const {
  return seconds_of(wall_now());
}

}  // namespace troupe::actors::replication
