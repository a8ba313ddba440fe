#include "actors/controllers/kit/pod_template.hpp"

#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

std::unique_ptr<api::core::v1::Pod> pod_from_template(const api::meta::v1::ObjectMeta& owner,
                                                      const api::core::v1::PodTemplateSpec& from) {
  auto pod = std::make_unique<api::core::v1::Pod>();
  auto& meta = *pod->mutable_metadata();
  meta.set_generate_name(owner.name() + "-");
  meta.set_namespace_(owner.namespace_());
  *meta.mutable_labels() = from.metadata().labels();
  *meta.mutable_annotations() = from.metadata().annotations();
  *meta.mutable_finalizers() = from.metadata().finalizers();
  *pod->mutable_spec() = from.spec();
  return pod;
}

}  // namespace troupe::actors
