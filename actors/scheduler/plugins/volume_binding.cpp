// Requires that the pod's claims are bound, or can be bound on the node to a volume that is
// reachable or can be provisioned there. Before the bind the volumes are reserved, and claims to be
// provisioned are annotated with the node; then the pod waits for the volume binder.
//
// kubernetes: pkg/scheduler/framework/plugins/volumebinding.
#include <fmt/format.h>

#include <algorithm>

#include "actors/core/labels.hpp"
#include "actors/scheduler/plugins/plugins.hpp"
#include "actors/volumes/defaults.hpp"
#include "actors/volumes/protection_rules.hpp"
#include "actors/volumes/provisioning.hpp"
#include "api/object/object_key.hpp"

namespace troupe::actors::scheduler {

namespace {

using volumes::PersistentVolume;
using volumes::PersistentVolumeClaim;
using volumes::StorageClass;

constexpr const char* conflict = "node(s) had volume node affinity conflict";
constexpr const char* none_to_bind = "node(s) didn't find available persistent volumes to bind";
constexpr const char* no_such_volume =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

struct found_claims {
  std::vector<std::vector<node_term>> reachable;  // of bound volumes with an affinity
  std::vector<api::object_ptr> unbound;           // claims that wait for a node
  bool volume_missing = false;
  const volume_view* volumes = nullptr;
};

status unresolvable(std::string reason) {
  return {status_code::unresolvable, std::move(reason)};
}

std::vector<node_term> terms_of(const PersistentVolume& volume) {
  return read_node_terms(volume.spec().node_affinity().required());
}

bool reaches(const std::vector<node_term>& terms, const node_info& node) {
  return std::any_of(terms.begin(), terms.end(), [&](const node_term& term) {
    return term.matches(node.name(), node.labels());
  });
}

bool reaches(const PersistentVolume& volume, const node_info& node) {
  return !volume.spec().node_affinity().has_required() || reaches(terms_of(volume), node);
}

// The choice for an unbound claim on a node.
struct choice {
  api::object_ptr volume;  // null: to be provisioned
  bool possible = false;
};

choice choose(const volume_view& view, const api::object& object, const node_info& node) {
  const auto& claim = object.as<PersistentVolumeClaim>();
  const auto& selected = annotation_of(claim.metadata(), volumes::defaults::selected_node);
  if (!selected.empty()) return {nullptr, selected == node.name()};
  if (auto volume =
          volumes::best_match(view.candidates(object), claim, false,
                              [&](const PersistentVolume& each) { return reaches(each, node); }))
    return {std::move(volume), true};
  const auto found = view.storage_class(volumes::class_of(claim));
  if (!found) return {};
  const auto& storage_class = found->as<StorageClass>();
  const bool made = storage_class.provisioner() != "kubernetes.io/no-provisioner";
  return {nullptr, made && volumes::allows(storage_class, node.body())};
}

class volume_binding : public plugin,
                       public pre_filter_plugin,
                       public filter_plugin,
                       public pre_bind_plugin {
 public:
  std::string_view name() const noexcept override { return "VolumeBinding"; }
  std::uint32_t helped_by() const noexcept override {
    return node_added | node_labels_changed | volumes_changed | pod_updated;
  }

  status pre_filter(cycle& notes, const pod_info& pod, const cluster_view& view) const override {
    const auto wanted = volumes::claims_of(pod.body());
    if (wanted.empty()) return {status_code::skip, {}};
    auto& found = notes.make<found_claims>(index());
    found.volumes = &view.volumes();
    for (const auto& each : wanted)
      if (auto result = look_at(pod, each, found); !result.ok()) return result;
    return {};
  }

  status filter(const cycle& notes, const pod_info&, const node_info& node) const override {
    const auto& found = notes.get<found_claims>(index());
    if (found.volume_missing) return unresolvable(no_such_volume);
    for (const auto& terms : found.reachable)
      if (!reaches(terms, node)) return unresolvable(conflict);
    for (const auto& claim : found.unbound)
      if (!choose(*found.volumes, *claim, node).possible) return unresolvable(none_to_bind);
    return {};
  }

  preparation pre_bind(const pod_info& pod, const node_info& node, const cluster_view& view,
                       bool again) const override {
    preparation all;
    for (const auto& each : volumes::claims_of(pod.body())) {
      const auto claim = view.volumes().claim(pod.pod->meta().namespace_(), each.claim);
      if (!claim) return {.result = unresolvable(missing(each))};
      if (!prepare(view.volumes(), *claim, node, again, all)) return all;
    }
    return all;
  }

 private:
  static std::string missing(const volumes::pod_claim& of) {
    return of.ephemeral ? fmt::format(
                              "waiting for ephemeral volume controller to create the "
                              "persistentvolumeclaim \"{}\"",
                              of.claim)
                        : fmt::format("persistentvolumeclaim \"{}\" not found", of.claim);
  }

  status look_at(const pod_info& pod, const volumes::pod_claim& of, found_claims& found) const {
    const auto& ns = pod.pod->meta().namespace_();
    const auto object = found.volumes->claim(ns, of.claim);
    if (!object) return unresolvable(missing(of));
    const auto& claim = object->as<PersistentVolumeClaim>();
    if (claim.status().phase() == "Lost")
      return unresolvable(
          fmt::format("persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"",
                      of.claim, claim.spec().volume_name()));
    if (claim.metadata().has_deletion_timestamp())
      return unresolvable(fmt::format("persistentvolumeclaim \"{}\" is being deleted", of.claim));
    if (of.ephemeral && !volumes::is_of(claim, pod.body()))
      return unresolvable(fmt::format("PVC {}/{} was not created for pod {}/{} (pod is not owner)",
                                      ns, of.claim, ns, pod.pod->meta().name()));
    if (!volumes::is_bound(claim)) {
      const auto found_class = found.volumes->storage_class(volumes::class_of(claim));
      if (!claim.spec().volume_name().empty() || !found_class ||
          !volumes::waits_for_consumer(found_class->as<StorageClass>()))
        return unresolvable("pod has unbound immediate PersistentVolumeClaims");
      found.unbound.push_back(object);
      return {};
    }
    const auto volume = found.volumes->volume(claim.spec().volume_name());
    found.volume_missing = found.volume_missing || !volume;
    if (!volume) return {};
    const auto& body = volume->as<PersistentVolume>();
    if (body.spec().node_affinity().has_required()) found.reachable.push_back(terms_of(body));
    return {};
  }

  // Returns false if it cannot be prepared, with the reason in `all`.
  static bool prepare(const volume_view& view, const api::object& object, const node_info& node,
                      bool again, preparation& all) {
    const auto& claim = object.as<PersistentVolumeClaim>();
    if (volumes::is_bound(claim)) {
      const auto volume = view.volume(claim.spec().volume_name());
      if (volume && reaches(volume->as<PersistentVolume>(), node)) return true;
      all = {.result = unresolvable(volume ? conflict : no_such_volume)};
      return false;
    }
    all.ready = false;
    const auto chosen = choose(view, object, node);
    if (!chosen.possible) {
      all = {.result = unresolvable(none_to_bind)};
      return false;
    }
    const auto& selected = annotation_of(claim.metadata(), volumes::defaults::selected_node);
    if (!selected.empty() ||
        (chosen.volume && volumes::is_for(chosen.volume->as<PersistentVolume>(), claim)))
      return true;
    if (again) {
      all = {.result = unresolvable(
                 fmt::format("provisioning failed for PVC \"{}\"", claim.metadata().name()))};
      return false;
    }
    all.writes.push_back(chosen.volume ? reserve(*chosen.volume, object)
                                       : select(object, node.name()));
    return true;
  }

  static persistence::transaction reserve(const api::object& volume, const api::object& claim) {
    persistence::transaction write;
    write.preconditions = {{api::key_of(volume), volume.revision()},
                           {api::key_of(claim), claim.revision()}};
    write.mutations.push_back(
        {api::key_of(volume), &volume.kind(),
         volumes::bound_volume(volume.as<PersistentVolume>(), claim.as<PersistentVolumeClaim>())});
    return write;
  }

  static persistence::transaction select(const api::object& claim, const std::string& node) {
    auto changed = claim.copy_as<PersistentVolumeClaim>();
    (*changed->mutable_metadata()->mutable_annotations())[volumes::defaults::selected_node] = node;
    persistence::transaction write;
    write.preconditions = {{api::key_of(claim), claim.revision()}};
    write.mutations.push_back({api::key_of(claim), &claim.kind(), std::move(changed)});
    return write;
  }
};

}  // namespace

std::unique_ptr<plugin> make_volume_binding() {
  return std::make_unique<volume_binding>();
}

}  // namespace troupe::actors::scheduler
