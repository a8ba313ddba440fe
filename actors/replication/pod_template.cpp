#include "actors/replication/pod_template.hpp"

#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::replication {

std::unique_ptr<api::core::v1::Pod> pod_from_template(const replica_owner& owner) {
  const auto& from = owner.pod_template();
  auto pod = std::make_unique<api::core::v1::Pod>();
  auto& meta = *pod->mutable_metadata();
  meta.set_generate_name(owner.name() + "-");
  meta.set_namespace_(owner.space());
  *meta.mutable_labels() = from.metadata().labels();
  *meta.mutable_annotations() = from.metadata().annotations();
  *meta.mutable_finalizers() = from.metadata().finalizers();
  add_controller_reference(owner, meta);
  *pod->mutable_spec() = from.spec();
  return pod;
}

void add_controller_reference(const replica_owner& owner, api::meta::v1::ObjectMeta& dependent) {
  auto& reference = *dependent.add_owner_references();
  reference.set_api_version(owner.object()->kind().api_version());
  reference.set_kind(owner.object()->kind().kind());
  reference.set_name(owner.name());
  reference.set_uid(owner.uid());
  reference.set_controller(true);
  reference.set_block_owner_deletion(true);
}

void remove_controller_reference(const replica_owner& owner, api::meta::v1::ObjectMeta& dependent) {
  auto& references = *dependent.mutable_owner_references();
  for (int i = references.size() - 1; i >= 0; --i)
    if (references[i].uid() == owner.uid()) references.DeleteSubrange(i, 1);
}

}  // namespace troupe::actors::replication
