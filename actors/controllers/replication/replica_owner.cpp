#include "actors/controllers/replication/replica_owner.hpp"

#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::replication {

namespace {

using api::apps::v1::ReplicaSet;
using api::core::v1::ReplicationController;

template <class Status>
replica_status read_status(const Status& from) {
  replica_status status{.replicas = from.replicas(),
                        .fully_labeled = from.fully_labeled_replicas(),
                        .ready = from.ready_replicas(),
                        .available = from.available_replicas(),
                        .observed_generation = from.observed_generation(),
                        .conditions = {}};
  for (const auto& c : from.conditions())
    status.conditions.push_back(
        {c.type(), c.status(), c.reason(), c.message(), c.last_transition_time().seconds()});
  return status;
}

template <class Status>
void write_status(const replica_status& status, Status& to) {
  to.set_replicas(status.replicas);
  to.set_fully_labeled_replicas(status.fully_labeled);
  to.set_ready_replicas(status.ready);
  to.set_available_replicas(status.available);
  to.set_observed_generation(status.observed_generation);
  to.clear_conditions();
  for (const auto& c : status.conditions) {
    auto& condition = *to.add_conditions();
    condition.set_type(c.type);
    condition.set_status(c.status);
    condition.set_reason(c.reason);
    condition.set_message(c.message);
    condition.mutable_last_transition_time()->set_seconds(c.since);
  }
}

}  // namespace

replica_owner::replica_owner(api::object_ptr object)
    : object_{std::move(object)}, is_replica_set_{&object_->kind() == &api::kind_of<ReplicaSet>()} {
  const auto read = [this](const auto& owner) {
    replicas_ = owner.spec().replicas();
    min_ready_seconds_ = owner.spec().min_ready_seconds();
    template_ = &owner.spec().template_();
  };
  if (is_replica_set_) {
    read(object_->as<ReplicaSet>());
  } else {
    read(object_->as<ReplicationController>());
  }
}

replica_status replica_owner::status() const {
  return is_replica_set_ ? read_status(object_->as<ReplicaSet>().status())
                         : read_status(object_->as<ReplicationController>().status());
}

std::unique_ptr<api::body> replica_owner::with_status(const replica_status& status) const {
  if (is_replica_set_) {
    auto changed = object_->copy_as<ReplicaSet>();
    write_status(status, *changed->mutable_status());
    return changed;
  }
  auto changed = object_->copy_as<ReplicationController>();
  write_status(status, *changed->mutable_status());
  return changed;
}

}  // namespace troupe::actors::replication
