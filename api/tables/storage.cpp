// Columns and cells of volumes, claims, storage classes and drivers.
#include <algorithm>
#include <array>

#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/storage_v1.pb.h"
#include "api/tables/kind_cells.hpp"

namespace troupe::api {
namespace {

using core::v1::PersistentVolume;
using core::v1::PersistentVolumeClaim;
using namespace storage::v1;
using strings = google::protobuf::RepeatedPtrField<std::string>;

// "RWO,ROX": in a fixed order, without duplicates.
std::string shown_modes(const strings& modes) {
  constexpr std::pair<std::string_view, std::string_view> short_names[] = {
      {"ReadWriteOnce", "RWO"},
      {"ReadOnlyMany", "ROX"},
      {"ReadWriteMany", "RWX"},
      {"ReadWriteOncePod", "RWOP"}};
  std::string text;
  for (const auto& [mode, brief] : short_names) {
    if (std::find(modes.begin(), modes.end(), mode) == modes.end()) continue;
    if (!text.empty()) text += ',';
    text += brief;
  }
  return text;
}

template <class Amounts>
std::string size_in(const Amounts& amounts) {
  const auto found = amounts.find("storage");
  return found == amounts.end() ? std::string() : found->second.string();
}

template <class Object>
std::string phase_of(const Object& object) {
  return object.metadata().has_deletion_timestamp() ? "Terminating" : object.status().phase();
}

constexpr std::array of_volumes = {
    name_column,
    table_column{"Capacity", "string", "How large it is."},
    table_column{"Access Modes", "string", "How it can be mounted."},
    table_column{"Reclaim Policy", "string", "What becomes of it when its claim goes."},
    table_column{"Status", "string", "Whether it is free, bound or released."},
    table_column{"Claim", "string", "The claim to which it is bound."},
    table_column{"StorageClass", "string", "The storage class to which it belongs."},
    table_column{"VolumeAttributesClass", "string", "Class of its attributes."},
    table_column{"Reason", "string", "Why it is as it is."},
    age_column,
    table_column{"VolumeMode", "string", "Whether it is a file system or a raw device.", 1}};

void write_volume(row_cells& into, const body& content) {
  const auto& object = as<PersistentVolume>(content);
  const auto& spec = object.spec();
  into.text(object.metadata().name())
      .text(size_in(spec.capacity()))
      .text(shown_modes(spec.access_modes()))
      .text(spec.persistent_volume_reclaim_policy())
      .text(phase_of(object))
      .text(spec.has_claim_ref() ? spec.claim_ref().namespace_() + "/" + spec.claim_ref().name()
                                 : std::string())
      .text(spec.storage_class_name())
      .text_or(spec.volume_attributes_class_name(), unset)
      .text(object.status().reason())
      .age(object.metadata())
      .text_or(spec.volume_mode(), unset);
}

constexpr std::array of_claims = {
    name_column,
    table_column{"Status", "string", "Whether it has its volume."},
    table_column{"Volume", "string", "The volume that is bound."},
    table_column{"Capacity", "string", "How large the volume is."},
    table_column{"Access Modes", "string", "How the volume can be mounted."},
    table_column{"StorageClass", "string", "The storage class."},
    table_column{"VolumeAttributesClass", "string", "Class of the volume's attributes."},
    age_column,
    table_column{"VolumeMode", "string", "Whether it is a file system or a raw device.", 1}};

void write_claim(row_cells& into, const body& content) {
  const auto& object = as<PersistentVolumeClaim>(content);
  const auto& spec = object.spec();
  const bool bound = !spec.volume_name().empty();
  into.text(object.metadata().name())
      .text(phase_of(object))
      .text(spec.volume_name())
      .text(bound ? size_in(object.status().capacity()) : std::string())
      .text(bound ? shown_modes(object.status().access_modes()) : std::string())
      .text(spec.storage_class_name())
      .text_or(spec.volume_attributes_class_name(), unset)
      .age(object.metadata())
      .text_or(spec.volume_mode(), unset);
}

constexpr std::array of_storage_classes = {
    name_column,
    table_column{"Provisioner", "string", "Who makes the volumes."},
    table_column{"ReclaimPolicy", "string", "What becomes of a volume when its claim goes."},
    table_column{"VolumeBindingMode", "string", "When a volume is made."},
    table_column{"AllowVolumeExpansion", "string", "Whether claims may ask for more later."},
    age_column};

bool is_default(const meta::v1::ObjectMeta& meta) {
  for (const auto* name : {"storageclass.kubernetes.io/is-default-class",
                           "storageclass.beta.kubernetes.io/is-default-class"}) {
    const auto found = meta.annotations().find(name);
    if (found != meta.annotations().end() && found->second == "true") return true;
  }
  return false;
}

void write_storage_class(row_cells& into, const body& content) {
  const auto& object = as<StorageClass>(content);
  into.text(object.metadata().name() + (is_default(object.metadata()) ? " (default)" : ""))
      .text(object.provisioner())
      .text_or(object.reclaim_policy(), "Delete")
      .text_or(object.volume_binding_mode(), "Immediate")
      .boolean(object.allow_volume_expansion())
      .age(object.metadata());
}

constexpr std::array of_drivers = {
    name_column,
    table_column{"AttachRequired", "boolean", "Whether volumes are attached to a node first."},
    table_column{"PodInfoOnMount", "boolean",
                 "Whether the driver gets the pod for which it mounts."},
    table_column{"StorageCapacity", "boolean", "Whether pods are placed by its capacity."},
    table_column{"TokenRequests", "string", "For whom it gets tokens."},
    table_column{"RequiresRepublish", "boolean", "Whether it is called again while a pod runs."},
    table_column{"Modes", "string", "Which volumes it has."},
    age_column};

void write_driver(row_cells& into, const body& content) {
  const auto& object = as<CSIDriver>(content);
  const auto& spec = object.spec();
  std::string audiences, modes;
  for (const auto& request : spec.token_requests())
    audiences += (audiences.empty() ? "" : ",") + request.audience();
  for (const auto& mode : spec.volume_lifecycle_modes())
    modes += (modes.empty() ? "" : ",") + mode;
  into.text(object.metadata().name())
      .boolean(!spec.has_attach_required() || spec.attach_required())
      .boolean(spec.pod_info_on_mount())
      .boolean(spec.storage_capacity())
      .text_or(audiences, unset)
      .boolean(spec.requires_republish())
      .text_or(modes, none_text)
      .age(object.metadata());
}

constexpr std::array of_csi_nodes = {
    name_column, table_column{"Drivers", "integer", "How many drivers there are."}, age_column};

void write_csi_node(row_cells& into, const body& content) {
  const auto& object = as<CSINode>(content);
  into.text(object.metadata().name()).number(object.spec().drivers_size()).age(object.metadata());
}

constexpr std::array of_capacities = {
    name_column, table_column{"StorageClassName", "string", "The storage class."},
    table_column{"Capacity", "string", "How much is left."}, age_column};

void write_capacity(row_cells& into, const body& content) {
  const auto& object = as<CSIStorageCapacity>(content);
  into.text(object.metadata().name())
      .text(object.storage_class_name())
      .text_or(object.capacity().string(), unset)
      .age(object.metadata());
}

constexpr std::array of_attachments = {
    name_column,
    table_column{"Attacher", "string", "The driver that does it."},
    table_column{"PV", "string", "The volume."},
    table_column{"Node", "string", "The node."},
    table_column{"Attached", "boolean", "Whether it is attached."},
    age_column};

void write_attachment(row_cells& into, const body& content) {
  const auto& object = as<VolumeAttachment>(content);
  into.text(object.metadata().name())
      .text(object.spec().attacher())
      .text(object.spec().source().persistent_volume_name())
      .text(object.spec().node_name())
      .boolean(object.status().attached())
      .age(object.metadata());
}

}  // namespace

const kind_cells volume_cells = {of_volumes, &write_volume};
const kind_cells claim_cells = {of_claims, &write_claim};
const kind_cells storage_class_cells = {of_storage_classes, &write_storage_class};
const kind_cells csi_driver_cells = {of_drivers, &write_driver};
const kind_cells csi_node_cells = {of_csi_nodes, &write_csi_node};
const kind_cells capacity_cells = {of_capacities, &write_capacity};
const kind_cells attachment_cells = {of_attachments, &write_attachment};

}  // namespace troupe::api
