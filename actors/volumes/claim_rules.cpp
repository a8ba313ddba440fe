#include "actors/volumes/claim_rules.hpp"

#include <algorithm>

#include "actors/core/finalizers.hpp"
#include "actors/core/labels.hpp"
#include "actors/volumes/defaults.hpp"
#include "api/selectors/selector.hpp"

namespace troupe::actors::volumes {

namespace {

constexpr const char* storage = "storage";

template <class Amounts>
api::quantity storage_in(const Amounts& amounts) {
  const auto found = amounts.find(storage);
  if (found == amounts.end()) return {};
  return api::quantity::parse(found->second.string()).value_or(api::quantity{});
}

template <class Object>
std::string class_in(const Object& object) {
  const auto& annotations = object.metadata().annotations();
  const auto found = annotations.find(defaults::class_annotation);
  return found != annotations.end() ? found->second : object.spec().storage_class_name();
}

const std::string& mode_of(const std::string& mode) {
  static const std::string usual = "Filesystem";
  return mode.empty() ? usual : mode;
}

bool same_mode(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return mode_of(volume.spec().volume_mode()) == mode_of(claim.spec().volume_mode());
}

bool has_modes(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  const auto& offered = volume.spec().access_modes();
  const auto& wanted = claim.spec().access_modes();
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& mode) {
    return std::find(offered.begin(), offered.end(), mode) != offered.end();
  });
}

bool selects(const PersistentVolumeClaim& claim, const PersistentVolume& volume) {
  if (!claim.spec().has_selector()) return true;
  const auto selector = api::label_selector::from(claim.spec().selector());
  return selector && selector->matches(volume.metadata().labels());
}

// Ignores class and selector, which a reservation overrides.
bool is_suitable(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return !volume.metadata().has_deletion_timestamp() && same_mode(volume, claim) &&
         has_modes(volume, claim) && capacity(volume) >= requested(claim);
}

}  // namespace

std::string class_of(const PersistentVolumeClaim& claim) {
  return class_in(claim);
}

std::string class_of(const PersistentVolume& volume) {
  return class_in(volume);
}

bool is_default(const StorageClass& storage_class) {
  return annotation_of(storage_class.metadata(), defaults::default_class) == "true" ||
         annotation_of(storage_class.metadata(), defaults::default_class_beta) == "true";
}

bool waits_for_consumer(const StorageClass& storage_class) {
  return storage_class.volume_binding_mode() == "WaitForFirstConsumer";
}

api::quantity requested(const PersistentVolumeClaim& claim) {
  return storage_in(claim.spec().resources().requests());
}

api::quantity capacity(const PersistentVolume& volume) {
  return storage_in(volume.spec().capacity());
}

bool is_for(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  if (!volume.spec().has_claim_ref()) return false;
  const auto& reference = volume.spec().claim_ref();
  return reference.name() == claim.metadata().name() &&
         reference.namespace_() == claim.metadata().namespace_() &&
         (reference.uid().empty() || reference.uid() == claim.metadata().uid());
}

bool is_bound(const PersistentVolumeClaim& claim) {
  return !claim.spec().volume_name().empty() &&
         claim.metadata().annotations().contains(defaults::bind_completed);
}

std::optional<std::string> mismatch(const PersistentVolume& volume,
                                    const PersistentVolumeClaim& claim) {
  if (capacity(volume) < requested(claim)) return "requested PV is too small";
  if (class_of(volume) != class_of(claim)) return "storageClassName does not match";
  if (!same_mode(volume, claim)) return "incompatible volumeMode";
  if (!has_modes(volume, claim)) return "incompatible accessMode";
  return std::nullopt;
}

api::object_ptr best_match(const std::vector<api::object_ptr>& volumes,
                           const PersistentVolumeClaim& claim, bool delayed,
                           const std::function<bool(const PersistentVolume&)>& usable) {
  api::object_ptr best;
  const auto wanted_class = class_of(claim);
  for (const auto& object : volumes) {
    const auto& volume = object->as<PersistentVolume>();
    if (volume.spec().has_claim_ref() && !is_for(volume, claim)) continue;
    if (!is_suitable(volume, claim)) continue;
    const bool may = !usable || usable(volume);
    if (is_for(volume, claim)) return may ? object : nullptr;
    if (delayed || !may || volume.status().phase() != "Available") continue;
    if (class_of(volume) != wanted_class || !selects(claim, volume)) continue;
    if (!best) {
      best = object;
      continue;
    }
    const auto size = capacity(volume), least = capacity(best->as<PersistentVolume>());
    if (size < least || (size == least && volume.metadata().name() < best->meta().name()))
      best = object;
  }
  return best;
}

std::unique_ptr<PersistentVolume> bound_volume(const PersistentVolume& volume,
                                               const PersistentVolumeClaim& claim) {
  auto bound = std::make_unique<PersistentVolume>(volume);
  if (!volume.spec().has_claim_ref())
    (*bound->mutable_metadata()->mutable_annotations())[defaults::bound_by_controller] = "yes";
  auto& reference = *bound->mutable_spec()->mutable_claim_ref();
  reference.set_kind("PersistentVolumeClaim");
  reference.set_api_version("v1");
  reference.set_namespace_(claim.metadata().namespace_());
  reference.set_name(claim.metadata().name());
  if (reference.uid().empty()) reference.set_resource_version(claim.metadata().resource_version());
  reference.set_uid(claim.metadata().uid());
  return bound;
}

std::unique_ptr<PersistentVolumeClaim> bound_claim(const PersistentVolumeClaim& claim,
                                                   const PersistentVolume& volume) {
  auto bound = std::make_unique<PersistentVolumeClaim>(claim);
  auto& annotations = *bound->mutable_metadata()->mutable_annotations();
  if (claim.spec().volume_name().empty()) annotations[defaults::bound_by_controller] = "yes";
  annotations[defaults::bind_completed] = "yes";
  bound->mutable_spec()->set_volume_name(volume.metadata().name());
  auto& status = *bound->mutable_status();
  status.set_phase("Bound");
  *status.mutable_access_modes() = volume.spec().access_modes();
  *status.mutable_capacity() = volume.spec().capacity();
  return bound;
}

bool is_local_path(const PersistentVolume& volume) {
  return volume.spec().persistent_volume_source().csi().driver() == defaults::local_path;
}

const std::string& node_of(const PersistentVolume& volume) {
  static const std::string none;
  const auto& attributes = volume.spec().persistent_volume_source().csi().volume_attributes();
  const auto found = attributes.find(defaults::local_path_node);
  return is_local_path(volume) && found != attributes.end() ? found->second : none;
}

bool has_directory(const PersistentVolume& volume) {
  return has_finalizer(volume.metadata(), defaults::local_path_finalizer);
}

}  // namespace troupe::actors::volumes
