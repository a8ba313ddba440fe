// Creates the pods of a controller from its template. Pure function.
#pragma once

#include <memory>
#include <string>

#include "actors/controllers/replication/replica_owner.hpp"

namespace troupe::api::core::v1 {
class Pod;
}

namespace troupe::actors::replication {

// A pod with the template's labels, annotations, finalizers and spec, owned by `owner`
// (controller=true, blockOwnerDeletion=true), with generateName set and no name yet.
std::unique_ptr<api::core::v1::Pod> pod_from_template(const replica_owner& owner);

}  // namespace troupe::actors::replication
