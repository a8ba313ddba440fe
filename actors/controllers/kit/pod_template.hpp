// The pod of a controller's template. Pure function.
#pragma once

#include <memory>

namespace troupe::api::core::v1 {
class Pod;
class PodTemplateSpec;
}  // namespace troupe::api::core::v1

namespace troupe::api::meta::v1 {
class ObjectMeta;
}

namespace troupe::actors {

// A pod in the owner's namespace with the template's labels, annotations, finalizers and spec, with
// generateName set, and without a name and an owner reference.
std::unique_ptr<api::core::v1::Pod> pod_from_template(const api::meta::v1::ObjectMeta& owner,
                                                      const api::core::v1::PodTemplateSpec& from);

}  // namespace troupe::actors
