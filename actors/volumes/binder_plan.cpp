#include "actors/volumes/binder_plan.hpp"

#include <fmt/format.h>

#include "actors/core/labels.hpp"
#include "actors/volumes/defaults.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors::volumes {

namespace {

using action = claim_step::action;

claim_step only(note event) {
  return {.event = std::move(event)};
}

claim_step lose(const PersistentVolumeClaim& claim, const char* reason, const char* message) {
  if (claim.status().phase() == "Lost") return {};
  return {.todo = action::lose, .event = note{true, reason, message}};
}

bool shows_binding(const PersistentVolumeClaim& claim, const PersistentVolume& volume) {
  return claim.status().phase() == "Bound" && volume.status().phase() == "Bound" &&
         volume.spec().claim_ref().uid() == claim.metadata().uid();
}

claim_step plan_bound(const claim_facts& facts) {
  const auto& claim = facts.claim;
  if (!facts.named)
    return lose(claim, "ClaimLost",
                "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
  const auto& volume = facts.named->as<PersistentVolume>();
  if (volume.spec().has_claim_ref() && !is_for(volume, claim))
    return lose(claim, "ClaimMisbound",
                "Two claims are bound to the same volume, this one is bound incorrectly");
  if (!shows_binding(claim, volume)) return {.todo = action::bind, .volume = facts.named};
  if (is_local_path(volume) && capacity(volume) < requested(claim))
    return {.todo = action::expand, .volume = facts.named};
  return {};
}

claim_step plan_named(const claim_facts& facts) {
  if (!facts.named) return {};
  const auto& volume = facts.named->as<PersistentVolume>();
  const auto& name = volume.metadata().name();
  if (is_for(volume, facts.claim)) return {.todo = action::bind, .volume = facts.named};
  if (volume.spec().has_claim_ref())
    return only({true, "FailedBinding",
                 fmt::format("volume \"{}\" already bound to a different claim.", name)});
  if (const auto problem = mismatch(volume, facts.claim))
    return only({true, "VolumeMismatch",
                 fmt::format("Cannot bind to requested volume \"{}\": {}", name, *problem)});
  if (volume.metadata().has_deletion_timestamp()) return {};
  return {.todo = action::bind, .volume = facts.named};
}

claim_step plan_provisioning(const claim_facts& facts) {
  const auto name = class_of(facts.claim);
  if (!facts.storage_class)
    return only({true, "ProvisioningFailed",
                 fmt::format("storageclass.storage.k8s.io \"{}\" not found", name)});
  const auto& provisioner = facts.storage_class->as<StorageClass>().provisioner();
  if (provisioner == defaults::local_path) return {.todo = action::provision};
  // kubernetes: findProvisionablePlugin; this prefix is reserved for built-in plugins.
  if (provisioner.starts_with("kubernetes.io/"))
    return only({true, "ProvisioningFailed",
                 fmt::format("no volume plugin matched name: {}", provisioner)});
  note event{false, "ExternalProvisioning",
             fmt::format("Waiting for a volume to be created either by the external provisioner "
                         "'{}' or manually by the system administrator. If volume creation is "
                         "delayed, please verify that the provisioner is running and correctly "
                         "registered.",
                         provisioner)};
  const auto asked = annotation_of(facts.claim.metadata(), defaults::storage_provisioner);
  if (asked == provisioner) return only(std::move(event));
  return {.todo = action::ask_others, .provisioner = provisioner, .event = std::move(event)};
}

claim_step plan_unbound(const claim_facts& facts) {
  const auto& claim = facts.claim;
  const bool delayed =
      facts.storage_class && waits_for_consumer(facts.storage_class->as<StorageClass>());
  if (auto found = best_match(facts.candidates, claim, delayed))
    return {.todo = action::bind, .volume = std::move(found)};
  const bool without_class = !claim.spec().has_storage_class_name() && class_of(claim).empty();
  if (without_class && facts.default_class)
    return {.todo = action::set_class, .class_name = facts.default_class->meta().name()};
  if (delayed && annotation_of(claim.metadata(), defaults::selected_node).empty())
    return only(
        {false, "WaitForFirstConsumer", "waiting for first consumer to be created before binding"});
  if (!class_of(claim).empty()) return plan_provisioning(facts);
  return only({false, "FailedBinding",
               "no persistent volumes available for this claim and no storage class is set"});
}

void reclaim(const PersistentVolume& volume, volume_step& step) {
  const auto& policy = volume.spec().persistent_volume_reclaim_policy();
  const auto fail = [&](const char* reason, std::string message) {
    if (volume.status().phase() == "Failed") return;
    step.phase = "Failed";
    step.message = message;
    step.event = note{true, reason, std::move(message)};
  };
  if (policy == "Recycle")
    return fail("VolumeFailedRecycle", "No recycler plugin found for the volume!");
  if (policy != "Delete" || volume.metadata().has_deletion_timestamp()) return;
  if (is_local_path(volume)) {
    step.remove = true;
  } else if (annotation_of(volume.metadata(), defaults::provisioned_by).empty()) {
    fail("VolumeFailedDelete",
         fmt::format("error getting deleter volume plugin for volume \"{}\": no deletable volume "
                     "plugin matched",
                     volume.metadata().name()));
  }
}

volume_step release(const PersistentVolume& volume) {
  volume_step step;
  const auto& phase = volume.status().phase();
  if (phase != "Released" && phase != "Failed") step.phase = "Released";
  reclaim(volume, step);
  return step;
}

volume_step show(const PersistentVolume& volume, const char* phase) {
  volume_step step;
  if (volume.status().phase() != phase) step.phase = phase;
  return step;
}

// The claim is bound to another volume.
volume_step plan_loser(const PersistentVolume& volume) {
  const bool provisioned = volume.metadata().annotations().contains(defaults::provisioned_by);
  if (provisioned && volume.spec().persistent_volume_reclaim_policy() == "Delete")
    return release(volume);
  volume_step step;
  step.unbind = true;
  step.phase = "Available";
  return step;
}

volume_step plan_life(const PersistentVolume& volume, const PersistentVolumeClaim* claim) {
  if (!volume.spec().has_claim_ref() || volume.spec().claim_ref().uid().empty())
    return show(volume, "Available");
  if (claim == nullptr || claim->metadata().uid() != volume.spec().claim_ref().uid())
    return release(volume);
  // The claim is synced as well, which binds it.
  if (claim->spec().volume_name().empty()) return {};
  if (claim->spec().volume_name() == volume.metadata().name()) return show(volume, "Bound");
  return plan_loser(volume);
}

}  // namespace

claim_step plan_claim(const claim_facts& facts) {
  const auto& claim = facts.claim;
  if (claim.metadata().annotations().contains(defaults::bind_completed)) {
    if (!claim.spec().volume_name().empty()) return plan_bound(facts);
    return lose(claim, "ClaimLost",
                "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
  }
  // A terminating claim gets no volume any more.
  if (claim.metadata().has_deletion_timestamp()) return {};
  return claim.spec().volume_name().empty() ? plan_unbound(facts) : plan_named(facts);
}

volume_step plan_volume(const PersistentVolume& volume, const PersistentVolumeClaim* claim,
                        bool has_node) {
  auto step = plan_life(volume, claim);
  const auto& phase = step.phase.empty() ? volume.status().phase() : step.phase;
  const bool kept = volume.spec().persistent_volume_reclaim_policy() != "Delete";
  step.release = has_directory(volume) && volume.metadata().has_deletion_timestamp() &&
                 phase != "Bound" && (kept || !has_node);
  return step;
}

api::object_ptr default_class_of(const std::vector<api::object_ptr>& classes) {
  api::object_ptr newest;
  for (const auto& each : classes) {
    if (!is_default(each->as<StorageClass>())) continue;
    if (!newest ||
        each->meta().creation_timestamp().seconds() >
            newest->meta().creation_timestamp().seconds() ||
        (each->meta().creation_timestamp().seconds() ==
             newest->meta().creation_timestamp().seconds() &&
         each->meta().name() < newest->meta().name()))
      newest = each;
  }
  return newest;
}

}  // namespace troupe::actors::volumes
