// Pods as a controller makes them from its template. Pure.
#pragma once

#include <memory>
#include <string>

#include "actors/replication/replica_owner.hpp"

namespace troupe::api::core::v1 {
class Pod;
}

namespace troupe::actors::replication {

// A pod with the template's labels, annotations, finalizers and spec, owned by `owner`
// (controller=true, blockOwnerDeletion=true), with generateName set and no name yet.
std::unique_ptr<api::core::v1::Pod> pod_from_template(const replica_owner& owner);

// The reference by which `owner` controls a pod.
void add_controller_reference(const replica_owner& owner, api::meta::v1::ObjectMeta& dependent);
void remove_controller_reference(const replica_owner& owner, api::meta::v1::ObjectMeta& dependent);

}  // namespace troupe::actors::replication
