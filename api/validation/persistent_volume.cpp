// Persistent volumes and claims (kubernetes: pkg/apis/core/validation).
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "api/equality.hpp"
#include "api/validation/checks.hpp"
#include "api/validation/storage.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api::validation {
namespace {

using core::v1::PersistentVolume;
using core::v1::PersistentVolumeClaim;
using core::v1::PersistentVolumeClaimSpec;
using core::v1::PersistentVolumeSpec;
using modes = google::protobuf::RepeatedPtrField<std::string>;

constexpr std::array access_modes = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                     "ReadWriteOncePod"};
constexpr auto storage = "storage";

void check_modes(field_errors& out, const modes& given) {
  bool alone = false;
  for (const auto& mode : given) {
    // The schema checks this too, but not for claims, as pods have them as well.
    if (std::find(access_modes.begin(), access_modes.end(), mode) == access_modes.end())
      out.unsupported("accessModes", mode, access_modes);
    alone = alone || mode == "ReadWriteOncePod";
  }
  if (alone && given.size() > 1)
    out.forbidden("accessModes", "may not use ReadWriteOncePod with other access modes");
}

void check_size(field_errors& out, const std::string& text) {
  const auto size = quantity::parse(text);
  if (!size)
    out.invalid({}, text, quantity_syntax);
  else if (size->sign() <= 0)
    out.invalid({}, text, "must be greater than zero");
}

void check_class_name(field_errors& out, const std::string& name) {
  if (!name.empty()) out.each("storageClassName", name, check_dns_subdomain(name));
}

std::string capacity_as_json(const PersistentVolumeSpec& spec) {
  std::map<std::string, std::string> sorted;
  for (const auto& [name, amount] : spec.capacity())
    sorted.emplace(name, amount.string());
  std::string out;
  for (const auto& [name, amount] : sorted)
    out += (out.empty() ? "{" : ",") + quoted(name) + ":" + quoted(amount);
  return out.empty() ? "null" : out + "}";
}

void check_capacity(field_errors& out, const PersistentVolumeSpec& spec) {
  if (spec.capacity().empty()) out.required("capacity");
  const auto step = out.at.field("capacity");
  const auto found = spec.capacity().find(storage);
  if (found == spec.capacity().end() || spec.capacity().size() > 1)
    out.unsupported_json({}, capacity_as_json(spec),
                         std::initializer_list<std::string_view>{storage});
  if (found == spec.capacity().end()) return;
  const auto inner = out.at.key(storage);
  check_size(out, found->second.string());
}

quantity size_of(const PersistentVolumeClaimSpec& spec) {
  const auto found = spec.resources().requests().find(storage);
  if (found == spec.resources().requests().end()) return {};
  return quantity::parse(found->second.string()).value_or(quantity{});
}

}  // namespace

void check(field_errors& out, const PersistentVolume& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  if (spec.access_modes().empty()) out.required("accessModes");
  if (spec.access_modes_size() > 1 &&
      std::count(spec.access_modes().begin(), spec.access_modes().end(), "ReadWriteOncePod") > 0)
    out.forbidden("accessModes", "may not use ReadWriteOncePod with other access modes");
  check_capacity(out, spec);
  check_class_name(out, spec.storage_class_name());
  const auto& source = spec.persistent_volume_source();
  if (source.has_host_path() && source.host_path().path() == "/" &&
      spec.persistent_volume_reclaim_policy() == "Recycle")
    out.forbidden("persistentVolumeReclaimPolicy",
                  "may not be 'recycle' for a hostPath mount of '/'");
  if (source.has_local() && !spec.has_node_affinity())
    out.required("nodeAffinity", "Local volume requires node affinity");
}

void check_update(field_errors& out, const PersistentVolume& now, const PersistentVolume& was) {
  const auto step = out.at.field("spec");
  if (!same_meaning(now.spec().persistent_volume_source(), was.spec().persistent_volume_source()))
    out.forbidden("persistentvolumesource",
                  "spec.persistentvolumesource is immutable after creation");
  if (now.spec().volume_mode() != was.spec().volume_mode())
    out.invalid("volumeMode", now.spec().volume_mode(), "field is immutable");
  if (was.spec().has_node_affinity() &&
      !same_meaning(now.spec().node_affinity(), was.spec().node_affinity()))
    out.invalid_json("nodeAffinity", "{}", "field is immutable");
}

void check(field_errors& out, const PersistentVolumeClaim& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  if (spec.access_modes().empty())
    out.required("accessModes", "at least 1 access mode is required");
  check_modes(out, spec.access_modes());
  if (spec.has_selector()) {
    const auto inner = out.at.field("selector");
    check_label_selector(out, spec.selector());
  }
  check_class_name(out, spec.storage_class_name());
  const auto inner = out.at.field("resources");
  const auto key = out.at.key(storage);
  const auto found = spec.resources().requests().find(storage);
  if (found == spec.resources().requests().end()) return out.required({});
  check_size(out, found->second.string());
}

void check_update(field_errors& out, const PersistentVolumeClaim& now,
                  const PersistentVolumeClaim& was) {
  // Restores the fields that may change; the rest must be equal.
  auto before = was.spec();
  const bool bound = was.status().phase() == "Bound";
  if (before.volume_name().empty()) before.set_volume_name(now.spec().volume_name());
  if (bound) *before.mutable_resources()->mutable_requests() = now.spec().resources().requests();
  if (now.spec().has_volume_attributes_class_name())
    before.set_volume_attributes_class_name(now.spec().volume_attributes_class_name());
  // The default storage class may be set later.
  if (!before.has_storage_class_name() && now.spec().has_storage_class_name())
    before.set_storage_class_name(now.spec().storage_class_name());
  if (!same_meaning(now.spec(), before))
    out.forbidden("spec",
                  "spec is immutable after creation except resources.requests and "
                  "volumeAttributesClassName for bound claims");
  if (!bound || size_of(now.spec()) >= size_of(was.spec())) return;
  const auto found = was.status().capacity().find(storage);
  const auto size = found == was.status().capacity().end()
                        ? std::nullopt
                        : quantity::parse(found->second.string());
  if (!size || size_of(now.spec()) < *size)
    out.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
}

}  // namespace troupe::api::validation
