#include "actors/controllers/replication/replica_controller.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::actors::replication {

std::string replica_controller::describe() const {
  if (!set_) return "loaded: false\n";
  const auto counts = tally_.counts(wall_seconds());
  const auto to_adopt = std::count_if(to_claim().begin(), to_claim().end(), [](const auto& each) {
    return controller_uid(*each.second).empty();
  });
  return fmt::format(
      "key: {}\nreplicas: {}\npods: {}\nactive: {}\nwaitForNodes: {}\nready: {}\nsyncing: {}\n"
      "expectationsMet: {}\n"
      "toAdopt: {}\ntoRelease: {}\nsyncs: {}\ncreated: {}\ndeleted: {}\nlastFailure: {}\n",
      key(), set_->replicas(), tally_.size(), counts.active, counts.waiting, counts.ready,
      syncing(), expectations_.satisfied(now()), to_adopt,
      to_claim().size() - static_cast<std::size_t>(to_adopt), syncs(), created_, deleted_,
      full_      ? full_->failure.message
      : failure_ ? failure_->reason
      : paused_  ? paused_->reason
                 : "none");
}

void replica_controller::owner_changed() {
  set_.emplace(owner());
  tally_.owner(*set_);
}

// Finished and terminating pods are not adopted or released (upstream claims active ones).
bool replica_controller::claimable(const api::object_ptr& pod) const {
  return read_pod(pod).active();
}

void replica_controller::take(const std::string& key, const api::object_ptr& pod) {
  auto record = read_pod(pod);
  expectations_.creation_observed(key);
  if (record.deleting) expectations_.deletion_observed(key);
  tally_.put(key, std::move(record));
}

void replica_controller::forget(const std::string& key) {
  expectations_.creation_observed(key);
  expectations_.deletion_observed(key);
  tally_.remove(key);
}

void replica_controller::forget_all() {
  expectations_.forget();
  tally_.clear();
}

const api::object* replica_controller::find(const std::string& key) const {
  const auto* record = tally_.find(key);
  return record == nullptr ? nullptr : record->pod.get();
}

}  // namespace troupe::actors::replication
