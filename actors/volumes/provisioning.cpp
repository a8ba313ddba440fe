#include "actors/volumes/provisioning.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/core/condition.hpp"
#include "actors/volumes/defaults.hpp"

namespace troupe::actors::volumes {

namespace {

constexpr const char* hostname_label = "kubernetes.io/hostname";

bool is_simulated(const Node& node) {
  return node.status().node_info().container_runtime_version().starts_with("simulated://");
}

void bind_to_node(PersistentVolume& volume, const Node& node) {
  auto& source = *volume.mutable_spec()->mutable_persistent_volume_source()->mutable_csi();
  source.set_driver(defaults::local_path);
  source.set_volume_handle(volume.metadata().name());
  (*source.mutable_volume_attributes())[defaults::local_path_node] = node.metadata().name();
  auto& term = *volume.mutable_spec()
                    ->mutable_node_affinity()
                    ->mutable_required()
                    ->add_node_selector_terms();
  const auto& labels = node.metadata().labels();
  const auto host = labels.find(hostname_label);
  auto& wanted = host == labels.end() ? *term.add_match_fields() : *term.add_match_expressions();
  wanted.set_key(host == labels.end() ? "metadata.name" : hostname_label);
  wanted.set_operator_("In");
  wanted.add_values(host == labels.end() ? node.metadata().name() : host->second);
}

}  // namespace

std::optional<std::string> check_provisioning(const StorageClass& storage_class,
                                              const PersistentVolumeClaim& claim) {
  if (!storage_class.parameters().empty())
    return fmt::format("parameter \"{}\" is not known to {}, which has none",
                       storage_class.parameters().begin()->first, defaults::local_path);
  if (!storage_class.mount_options().empty())
    return fmt::format(
        "Mount options are not supported by the provisioner but StorageClass \"{}\" "
        "has mount options",
        storage_class.metadata().name());
  const auto& spec = claim.spec();
  if (spec.has_selector()) return "claim.Spec.Selector is not supported";
  if (spec.has_data_source() || spec.has_data_source_ref())
    return fmt::format("{} does not fill volumes from a data source", defaults::local_path);
  if (spec.volume_mode() == "Block")
    return fmt::format("{} does not support block volume provisioning", defaults::local_path);
  const auto& modes = spec.access_modes();
  if (std::any_of(modes.begin(), modes.end(), [](const auto& mode) {
        return mode != "ReadWriteOnce" && mode != "ReadWriteOncePod";
      }))
    return fmt::format("{} supports the access modes ReadWriteOnce and ReadWriteOncePod alone",
                       defaults::local_path);
  return std::nullopt;
}

bool allows(const StorageClass& storage_class, const Node& node) {
  const auto& labels = node.metadata().labels();
  const auto holds = [&](const auto& wanted) {
    const auto found = labels.find(wanted.key());
    return found != labels.end() && std::find(wanted.values().begin(), wanted.values().end(),
                                              found->second) != wanted.values().end();
  };
  const auto& terms = storage_class.allowed_topologies();
  return terms.empty() || std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
           const auto& all = term.match_label_expressions();
           return std::all_of(all.begin(), all.end(), holds);
         });
}

bool takes_volumes(const Node& node) {
  return is_condition_true(node.status().conditions(), "Ready") && !node.spec().unschedulable() &&
         !node.metadata().has_deletion_timestamp();
}

std::unique_ptr<PersistentVolume> make_volume(const PersistentVolumeClaim& claim,
                                              const StorageClass& storage_class, const Node& node) {
  PersistentVolume volume;
  auto& meta = *volume.mutable_metadata();
  meta.set_name("pvc-" + claim.metadata().uid());
  (*meta.mutable_annotations())[defaults::provisioned_by] = defaults::local_path;
  if (!is_simulated(node)) meta.add_finalizers(defaults::local_path_finalizer);
  auto& spec = *volume.mutable_spec();
  (*spec.mutable_capacity())["storage"].set_string(requested(claim).str());
  *spec.mutable_access_modes() = claim.spec().access_modes();
  spec.set_persistent_volume_reclaim_policy(
      storage_class.reclaim_policy().empty() ? "Delete" : storage_class.reclaim_policy());
  spec.set_storage_class_name(storage_class.metadata().name());
  spec.set_volume_mode("Filesystem");
  bind_to_node(volume, node);
  return bound_volume(volume, claim);
}

std::unique_ptr<StorageClass> make_local_path_class() {
  auto made = std::make_unique<StorageClass>();
  made->mutable_metadata()->set_name(defaults::local_path_class);
  (*made->mutable_metadata()->mutable_annotations())[defaults::default_class] = "true";
  made->set_provisioner(defaults::local_path);
  made->set_reclaim_policy("Delete");
  made->set_volume_binding_mode("WaitForFirstConsumer");
  made->set_allow_volume_expansion(true);
  return made;
}

}  // namespace troupe::actors::volumes
