#include "actors/controllers/deployments/deployment_controller.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/controllers/claims.hpp"
#include "actors/controllers/deployments/defaults.hpp"
#include "actors/core/condition.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::deployments {

using api::apps::v1::ReplicaSet;

deployment_controller::deployment_controller(std::string key, core_actors core,
                                             const persistence::store& store)
    : key_{std::move(key)}, core_{std::move(core)}, store_{store} {}

const runtime::behavior& deployment_controller::make_behavior() const {
  static const runtime::behavior table = runtime::handlers(
      &deployment_controller::on_owner_event, &deployment_controller::on_set,
      &deployment_controller::on_resync_request, &deployment_controller::on_sync_due);
  return table;
}

void deployment_controller::started() {
  resync_timer_ = every(defaults::resync_period, [this] { load(); });
  load();
}

std::string deployment_controller::describe() const {
  if (!deployment_) return "loaded: false\n";
  const auto& status = deployment_->body().status();
  return fmt::format(
      "key: {}\nreplicas: {}\nupdated: {}\navailable: {}\nsets: {}\nsyncing: {}\nsyncs: {}\n", key_,
      deployment_->spec().replicas(), status.updated_replicas(), status.available_replicas(),
      sets_.size(), syncing_, syncs_);
}

// -- messages from the supervisor -----------------------------------------------------------------

void deployment_controller::on_owner_event(const owner_event& change) {
  if (change.gone) return stop();
  if (!loaded_ || change.at <= known_) return;
  if (change.object->revision() <= deployment_->object()->revision()) return;
  const deployment_view changed{change.object};
  // Other sets are its own now.
  const bool moved = changed.meta().uid() != deployment_->meta().uid() ||
                     changed.selector() != deployment_->selector();
  deployment_.emplace(change.object);
  if (moved) return load();
  enqueue();
}

void deployment_controller::on_set(const dependent_event& change) {
  const auto& event = change.event;
  if (!loaded_ || event.at <= known_) return;
  if (event.type == event_type::deleted) {
    sets_.erase(set_view{event.object}.key());
  } else {
    take_set(event.object);
  }
  enqueue();
}

void deployment_controller::on_resync_request(const resync_request&) {
  load();
}

// -- what it knows --------------------------------------------------------------------------------

void deployment_controller::load() {
  const auto state = store_.read();
  auto object = state.find(key_);
  if (!object) return stop();
  loaded_ = true;
  known_ = state.at();
  deployment_.emplace(std::move(object));
  sets_.clear();
  const auto prefix = api::kind_of<ReplicaSet>().prefix(deployment_->meta().namespace_());
  state.scan(prefix, {}, [this](std::string_view, const api::object_ptr& set) {
    take_set(set);
    return true;
  });
  enqueue();
}

// Keeps what is ours, what was ours and is to be released, and orphans that match.
void deployment_controller::take_set(const api::object_ptr& set) {
  const auto claimed = judge(deployment_->meta(), deployment_->selector(), *set);
  const auto key = set_view{set}.key();
  if (claimed == claim::ignore) {
    sets_.erase(key);
    return;
  }
  auto& known = sets_[key];
  if (!known || known->revision() < set->revision()) known = set;
}

void deployment_controller::record(bool warning, std::string reason, std::string message) {
  tell(core_.recorder, record_event{.about = deployment_->object(),
                                    .warning = warning,
                                    .reason = std::move(reason),
                                    .message = std::move(message),
                                    .component = "deployment-controller",
                                    .field_path = {},
                                    .host = {}});
}

std::int64_t deployment_controller::wall_seconds() const {
  return seconds_of(wall_now());
}

}  // namespace troupe::actors::deployments
