#include "actors/replication/replica_controller.hpp"

#include <fmt/format.h>

#include "actors/claims.hpp"
#include "actors/replication/defaults.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::replication {

replica_controller::replica_controller(std::string key, doors to, const persistence::store& truth)
    : key_{std::move(key)}, to_{std::move(to)}, truth_{truth} {}

const runtime::behavior& replica_controller::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&replica_controller::on_own_change, &replica_controller::on_pod,
                        &replica_controller::on_sync_due);
  return table;
}

void replica_controller::started() {
  // The fence: see the header.
  request<commit_done>(to_.writer, commit{std::make_shared<persistence::transaction>()},
                       defaults::write_timeout, [this](const auto& answered) {
                         if (answered) return load();
                         retry_timer_ = after(defaults::fence_retry, [this] { started(); });
                       });
}

std::string replica_controller::describe() const {
  if (!owner_) return "loaded: false\n";
  const auto counts = tally_.counts(wall_seconds());
  return fmt::format(
      "key: {}\nreplicas: {}\npods: {}\nactive: {}\nready: {}\nsyncing: {}\nexpectationsMet: {}\n"
      "toAdopt: {}\ntoRelease: {}\nsyncs: {}\ncreated: {}\ndeleted: {}\nlastFailure: {}\n",
      key_, owner_->replicas(), tally_.size(), counts.active, counts.ready, syncing_,
      expectations_.satisfied(now()), to_adopt_.size(), to_release_.size(), syncs_, created_,
      deleted_, failure_ ? failure_->reason : "none");
}

// -- messages from the supervisor -----------------------------------------------------------------

void replica_controller::on_own_change(const own_change& change) {
  if (change.gone) return stop();
  if (!loaded_ || change.at <= known_) return;
  if (owner_ && change.object->revision() <= owner_->object()->revision()) return;
  const auto selector_before = owner_->selector();
  take_owner(change.object);
  if (owner_->selector() != selector_before) return load();
  touch();
}

void replica_controller::on_pod(const related_change& change) {
  const auto& event = change.event;
  if (!loaded_ || event.at <= known_) return;
  const auto key =
      event.object->kind().key(event.object->meta().namespace_(), event.object->meta().name());
  if (event.type == event_type::deleted) {
    lose_pod(key);
  } else {
    take_pod(key, event.object);
  }
  touch();
}

// -- what it knows --------------------------------------------------------------------------------

void replica_controller::load() {
  const auto state = truth_.read();
  auto object = state.find(key_);
  if (!object) return stop();
  loaded_ = true;
  known_ = state.at();
  tally_.clear();
  to_adopt_.clear();
  to_release_.clear();
  take_owner(std::move(object));
  const auto prefix = api::kind_of<api::core::v1::Pod>().prefix(owner_->space());
  state.scan(prefix, {}, [this](std::string_view key, const api::object_ptr& pod) {
    take_pod(std::string{key}, pod);
    return true;
  });
  resync_timer_ = every(defaults::resync_period, [this] { touch(); });
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
  if (tally_.find(key) == nullptr) expectations_.creation_observed();
  if (record.deleting) expectations_.deletion_observed(key);
  tally_.put(key, std::move(record));
}

void replica_controller::lose_pod(const std::string& key) {
  to_adopt_.erase(key);
  to_release_.erase(key);
  expectations_.deletion_observed(key);
  tally_.remove(key);
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
  return std::chrono::duration_cast<std::chrono::seconds>(wall_now().time_since_epoch()).count();
}

}  // namespace troupe::actors::replication
