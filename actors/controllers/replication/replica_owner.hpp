// The common view of a ReplicationController and a ReplicaSet, so that one implementation serves
// both. A value made from a committed object; cheap to rebuild.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/controllers/replication/replica_status.hpp"
#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::api::core::v1 {
class PodTemplateSpec;
}

namespace troupe::actors::replication {

class replica_owner {
 public:
  // `object` is a ReplicationController or a ReplicaSet.
  explicit replica_owner(api::object_ptr object);

  const api::object_ptr& object() const noexcept { return object_; }
  const std::string& ns() const { return object_->meta().namespace_(); }
  const std::string& name() const { return object_->meta().name(); }
  const std::string& uid() const { return object_->meta().uid(); }
  std::int64_t generation() const { return object_->meta().generation(); }
  bool deleting() const { return object_->meta().has_deletion_timestamp(); }

  std::int32_t replicas() const noexcept { return replicas_; }
  std::int32_t min_ready_seconds() const noexcept { return min_ready_seconds_; }
  const api::core::v1::PodTemplateSpec& pod_template() const noexcept { return *template_; }

  replica_status status() const;
  // The object with a new status, to be written.
  std::unique_ptr<api::body> with_status(const replica_status& status) const;

 private:
  api::object_ptr object_;
  bool is_replica_set_;
  std::int32_t replicas_ = 0;
  std::int32_t min_ready_seconds_ = 0;
  const api::core::v1::PodTemplateSpec* template_;  // inside object_
};

}  // namespace troupe::actors::replication
