#include "actors/scheduler/framework/volume_view.hpp"

#include "actors/volumes/claim_rules.hpp"
#include "api/object/object_key.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::scheduler {

namespace {

using volumes::PersistentVolume;
using volumes::PersistentVolumeClaim;
using volumes::StorageClass;

bool is_volume(const api::object& object) {
  return &object.kind() == &api::kind_of<PersistentVolume>();
}

std::string claim_of(const PersistentVolume& volume) {
  const auto& reference = volume.spec().claim_ref();
  return api::kind_of<PersistentVolumeClaim>().key(reference.namespace_(), reference.name());
}

}  // namespace

void volume_view::put(const api::object_ptr& object) {
  const auto key = api::key_of(*object);
  const auto known = objects_.find(key);
  if (known != objects_.end()) {
    if (known->second->revision() >= object->revision()) return;
    remove(*known->second);
  }
  objects_[key] = object;
  if (!is_volume(*object)) return;
  const auto& volume = object->as<PersistentVolume>();
  if (volume.spec().has_claim_ref())
    reserved_.emplace(claim_of(volume), key);
  else
    free_[volumes::class_of(volume)][key] = object;
}

void volume_view::update(const api::object_ptr& object) {
  if (objects_.contains(api::key_of(*object))) put(object);
}

void volume_view::remove(const api::object& object) {
  const auto found = objects_.find(api::key_of(object));
  if (found == objects_.end()) return;
  // The stored state, not the removed one, determines the list that contains it.
  const auto known = found->second;
  objects_.erase(found);
  if (!is_volume(*known)) return;
  const auto& volume = known->as<PersistentVolume>();
  const auto key = api::key_of(*known);
  if (volume.spec().has_claim_ref())
    reserved_.erase({claim_of(volume), key});
  else
    free_[volumes::class_of(volume)].erase(key);
}

api::object_ptr volume_view::claim(const std::string& ns, const std::string& name) const {
  const auto found = objects_.find(api::kind_of<PersistentVolumeClaim>().key(ns, name));
  return found == objects_.end() ? nullptr : found->second;
}

api::object_ptr volume_view::volume(const std::string& name) const {
  const auto found = objects_.find(api::kind_of<PersistentVolume>().key({}, name));
  return found == objects_.end() ? nullptr : found->second;
}

api::object_ptr volume_view::storage_class(const std::string& name) const {
  const auto found = objects_.find(api::kind_of<StorageClass>().key({}, name));
  return found == objects_.end() ? nullptr : found->second;
}

api::object_ptr volume_view::driver_limits(const std::string& node) const {
  const auto found = objects_.find(api::kind_of<api::storage::v1::CSINode>().key({}, node));
  return found == objects_.end() ? nullptr : found->second;
}

std::vector<api::object_ptr> volume_view::candidates(const api::object& claim) const {
  std::vector<api::object_ptr> found;
  const auto of_claim = api::key_of(claim);
  for (auto at = reserved_.lower_bound({of_claim, {}});
       at != reserved_.end() && at->first == of_claim; ++at)
    found.push_back(objects_.at(at->second));
  const auto of_class = free_.find(volumes::class_of(claim.as<PersistentVolumeClaim>()));
  if (of_class == free_.end()) return found;
  for (const auto& [key, volume] : of_class->second)
    if (!promised_.contains(key)) found.push_back(volume);
  return found;
}

}  // namespace troupe::actors::scheduler
