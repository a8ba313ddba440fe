#include "actors/controllers/replication/pod_template.hpp"

#include "actors/controllers/kit/claims.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::replication {

std::unique_ptr<api::core::v1::Pod> pod_from_template(const replica_owner& owner) {
  const auto& from = owner.pod_template();
  auto pod = std::make_unique<api::core::v1::Pod>();
  auto& meta = *pod->mutable_metadata();
  meta.set_generate_name(owner.name() + "-");
  meta.set_namespace_(owner.ns());
  *meta.mutable_labels() = from.metadata().labels();
  *meta.mutable_annotations() = from.metadata().annotations();
  *meta.mutable_finalizers() = from.metadata().finalizers();
  add_controller_reference(*owner.object(), meta);
  *pod->mutable_spec() = from.spec();
  return pod;
}

}  // namespace troupe::actors::replication
