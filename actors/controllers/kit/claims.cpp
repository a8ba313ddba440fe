#include "actors/controllers/kit/claims.hpp"

#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::meta::v1::ObjectMeta;

claim classify(const ObjectMeta& owner, const api::label_selector& selector,
               const api::object& dependent) {
  const auto& meta = dependent.meta();
  if (meta.namespace_() != owner.namespace_()) return claim::ignore;
  const auto controller = controller_uid(dependent);
  if (!controller.empty() && controller != owner.uid()) return claim::ignore;
  const bool matches = selector.matches(meta.labels());
  if (!controller.empty()) {
    if (matches) return claim::keep;
    return owner.has_deletion_timestamp() ? claim::ignore : claim::release;
  }
  if (!matches || owner.has_deletion_timestamp() || meta.has_deletion_timestamp())
    return claim::ignore;
  return claim::adopt;
}

const api::meta::v1::OwnerReference* controller_of(const api::object& dependent) {
  for (const auto& owner : dependent.meta().owner_references())
    if (owner.controller()) return &owner;
  return nullptr;
}

std::string_view controller_uid(const api::object& dependent) {
  const auto* owner = controller_of(dependent);
  return owner == nullptr ? std::string_view{} : owner->uid();
}

api::object_ptr stored_controller(const persistence::snapshot& state,
                                  const api::object& dependent) {
  const auto* owner = controller_of(dependent);
  if (owner == nullptr) return nullptr;
  const auto kind = api::scheme::instance().find(owner->api_version(), owner->kind());
  if (!kind) return nullptr;
  auto found = state.find(kind->key(dependent.meta().namespace_(), owner->name()));
  return found && found->meta().uid() == owner->uid() ? found : nullptr;
}

void add_owner_reference(const api::object& owner, ObjectMeta& dependent) {
  auto& reference = *dependent.add_owner_references();
  reference.set_api_version(owner.kind().api_version());
  reference.set_kind(owner.kind().kind());
  reference.set_name(owner.meta().name());
  reference.set_uid(owner.meta().uid());
}

void add_controller_reference(const api::object& owner, ObjectMeta& dependent) {
  add_owner_reference(owner, dependent);
  auto& reference = *dependent.mutable_owner_references()->rbegin();
  reference.set_controller(true);
  reference.set_block_owner_deletion(true);
}

void remove_controller_reference(const api::object& owner, ObjectMeta& dependent) {
  auto& references = *dependent.mutable_owner_references();
  for (int i = references.size() - 1; i >= 0; --i)
    if (references[i].uid() == owner.meta().uid()) references.DeleteSubrange(i, 1);
}

}  // namespace troupe::actors
