#include "actors/volumes/protection_rules.hpp"

#include <algorithm>

#include "api/schema/meta_object.pb.h"

namespace troupe::actors::volumes {

std::vector<pod_claim> claims_of(const Pod& pod) {
  std::vector<pod_claim> found;
  for (const auto& volume : pod.spec().volumes()) {
    const auto& source = volume.volume_source();
    if (source.has_persistent_volume_claim())
      found.push_back({volume.name(), source.persistent_volume_claim().claim_name(), false,
                       source.persistent_volume_claim().read_only()});
    else if (source.has_ephemeral())
      found.push_back({volume.name(), pod.metadata().name() + "-" + volume.name(), true, false});
  }
  return found;
}

bool has_claims(const api::object& pod) {
  return !claims_of(pod.as<Pod>()).empty();
}

bool holds_claim(const Pod& pod, const PersistentVolumeClaim& claim) {
  if (pod.spec().node_name().empty()) return false;
  const auto& meta = pod.metadata();
  // The kubelet has terminated it, or it was deleted by force (kubernetes: podIsShutDown).
  const bool is_shut_down = meta.has_deletion_timestamp() &&
                            meta.has_deletion_grace_period_seconds() &&
                            meta.deletion_grace_period_seconds() == 0;
  const auto all = claims_of(pod);
  return std::any_of(all.begin(), all.end(), [&](const pod_claim& each) {
    return each.claim == claim.metadata().name() &&
           (!each.ephemeral || (!is_shut_down && is_of(claim, pod)));
  });
}

std::unique_ptr<PersistentVolumeClaim> make_ephemeral_claim(const Pod& pod,
                                                            const std::string& volume) {
  const auto& all = pod.spec().volumes();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name() == volume; });
  if (found == all.end() || !found->volume_source().has_ephemeral()) return nullptr;
  const auto& like = found->volume_source().ephemeral().volume_claim_template();
  auto claim = std::make_unique<PersistentVolumeClaim>();
  auto& meta = *claim->mutable_metadata();
  *meta.mutable_labels() = like.metadata().labels();
  *meta.mutable_annotations() = like.metadata().annotations();
  meta.set_name(pod.metadata().name() + "-" + volume);
  meta.set_namespace_(pod.metadata().namespace_());
  auto& owner = *meta.add_owner_references();
  owner.set_api_version("v1");
  owner.set_kind("Pod");
  owner.set_name(pod.metadata().name());
  owner.set_uid(pod.metadata().uid());
  owner.set_controller(true);
  owner.set_block_owner_deletion(true);
  *claim->mutable_spec() = like.spec();
  return claim;
}

bool is_of(const PersistentVolumeClaim& claim, const Pod& pod) {
  const auto& all = claim.metadata().owner_references();
  return claim.metadata().namespace_() == pod.metadata().namespace_() &&
         std::any_of(all.begin(), all.end(), [&](const auto& owner) {
           return owner.controller() && owner.uid() == pod.metadata().uid();
         });
}

}  // namespace troupe::actors::volumes
