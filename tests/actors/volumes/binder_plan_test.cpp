// The binder's steps for one claim and one volume.
#include "actors/volumes/binder_plan.hpp"

#include <catch2/catch.hpp>

#include "actors/volumes/defaults.hpp"
#include "builders.hpp"

namespace troupe::actors::volumes {

namespace {

using action = claim_step::action;

const std::string completed = ", annotations: {pv.kubernetes.io/bind-completed: \"yes\"}";
const std::string of_c = ", claimRef: {namespace: default, name: c, uid: c-uid}";

claim_step plan(const api::object_ptr& claim, api::object_ptr storage_class = nullptr,
                std::vector<api::object_ptr> candidates = {}, api::object_ptr named = nullptr,
                api::object_ptr usual = nullptr) {
  return plan_claim({claim->as<PersistentVolumeClaim>(), std::move(storage_class), std::move(usual),
                     std::move(named), std::move(candidates)});
}

std::string event_of(const claim_step& step) {
  return step.event ? step.event->reason + ": " + step.event->message : "";
}

volume_step look(const api::object_ptr& volume, const api::object_ptr& claim = nullptr,
                 bool has_node = true) {
  return plan_volume(volume->as<PersistentVolume>(),
                     claim ? &claim->as<PersistentVolumeClaim>() : nullptr, has_node);
}

}  // namespace

TEST_CASE("a claim without a volume is bound, provisioned, or gets an event with the reason",
          "[volumes]") {
  CHECK(plan(make_claim("c", "1Gi"), nullptr, {make_free_volume("v", "1Gi")}).todo == action::bind);
  CHECK(event_of(plan(make_claim("c", "1Gi"))) ==
        "FailedBinding: no persistent volumes available for this claim and no storage class is "
        "set");
  const auto of_class = make_claim("c", "1Gi", ", storageClassName: fast");
  CHECK(event_of(plan(of_class)) ==
        "ProvisioningFailed: storageclass.storage.k8s.io \"fast\" not found");
  CHECK(plan(of_class, make_class("fast", defaults::local_path)).todo == action::provision);
  const auto foreign = plan(of_class, make_class("fast", "disks.example.com"));
  CHECK(foreign.todo == action::ask_others);
  CHECK(foreign.provisioner == "disks.example.com");
  CHECK(event_of(foreign).starts_with("ExternalProvisioning: Waiting for a volume"));
  CHECK(event_of(plan(of_class, make_class("fast", "kubernetes.io/no-provisioner"))) ==
        "ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner");
  const auto later =
      make_class("fast", defaults::local_path, "volumeBindingMode: WaitForFirstConsumer\n");
  CHECK(event_of(plan(of_class, later)) ==
        "WaitForFirstConsumer: waiting for first consumer to be created before binding");
  CHECK(plan(make_claim("c", "1Gi", ", storageClassName: fast",
                        ", annotations: {volume.kubernetes.io/selected-node: n1}"),
             later)
            .todo == action::provision);
}

TEST_CASE("a claim that names no class gets the default one later, one that wants none does not",
          "[volumes]") {
  const auto usual = make_class("usual", "x.example.com", "",
                                ", annotations: {storageclass.kubernetes.io/is-default-class: "
                                "\"true\"}");
  const auto step = plan(make_claim("c", "1Gi"), nullptr, {}, nullptr, usual);
  CHECK(step.todo == action::set_class);
  CHECK(step.class_name == "usual");
  CHECK(
      plan(make_claim("c", "1Gi", ", storageClassName: \"\""), nullptr, {}, nullptr, usual).todo ==
      action::none);
  CHECK(default_class_of({make_class("a", "x"), usual}) == usual);
  CHECK(default_class_of({make_class("a", "x")}) == nullptr);
}

TEST_CASE("a claim that names its volume waits for it, or gets an event with the reason",
          "[volumes]") {
  const auto claim = make_claim("c", "1Gi", ", volumeName: v");
  CHECK(plan(claim).todo == action::none);
  CHECK(plan(claim, nullptr, {}, make_free_volume("v", "1Gi")).todo == action::bind);
  CHECK(event_of(plan(claim, nullptr, {}, make_free_volume("v", "1Mi"))) ==
        "VolumeMismatch: Cannot bind to requested volume \"v\": requested PV is too small");
  CHECK(event_of(plan(
            claim, nullptr, {},
            make_free_volume("v", "1Gi", ", claimRef: {namespace: default, name: d, uid: x}"))) ==
        "FailedBinding: volume \"v\" already bound to a different claim.");
}

TEST_CASE("a bound claim that has lost its volume is lost, and found again with it", "[volumes]") {
  const auto bound = make_claim("c", "1Gi", ", volumeName: v", completed, "Bound");
  CHECK(plan(bound).todo == action::lose);
  CHECK(event_of(plan(bound)).starts_with("ClaimLost: Bound claim has lost its PersistentVolume"));
  CHECK(plan(make_claim("c", "1Gi", "", completed, "Bound")).todo == action::lose);
  const auto lost = make_claim("c", "1Gi", ", volumeName: v", completed, "Lost");
  CHECK(plan(lost).todo == action::none);
  CHECK(plan(lost, nullptr, {}, make_free_volume("v", "1Gi", of_c, "", "Bound")).todo ==
        action::bind);
  CHECK(event_of(
            plan(bound, nullptr, {},
                 make_free_volume("v", "1Gi", ", claimRef: {namespace: default, name: d, uid: x}")))
            .starts_with("ClaimMisbound: "));
  CHECK(plan(bound, nullptr, {}, make_free_volume("v", "1Gi", of_c, "", "Bound")).todo ==
        action::none);
}

TEST_CASE("a volume shows whether it is free, bound or released", "[volumes]") {
  const auto free = make_free_volume("v", "1Gi", "", "", "Pending");
  CHECK(look(free).phase == "Available");
  CHECK(look(make_free_volume("v", "1Gi")).empty());
  const auto bound = make_free_volume("v", "1Gi", of_c, "", "Bound");
  CHECK(look(bound, make_claim("c", "1Gi", ", volumeName: v")).empty());
  CHECK(look(bound).phase == "Released");
  CHECK_FALSE(look(bound).remove);
  const auto another = parse<PersistentVolumeClaim>(
      "metadata: {name: c, namespace: default, uid: other}\nspec: {volumeName: v}\n");
  CHECK(look(bound, another).phase == "Released");
  const auto elsewhere = make_claim("c", "1Gi", ", volumeName: w");
  CHECK(look(bound, elsewhere).unbind);
  CHECK(look(bound, elsewhere).phase == "Available");
}

TEST_CASE("the reclaim policy decides whether a released volume is kept or deleted", "[volumes]") {
  const auto released = [](const std::string& policy, const std::string& meta = {}) {
    return look(make_free_volume("v", "1Gi", of_c + ", persistentVolumeReclaimPolicy: " + policy,
                                 meta, "Released"));
  };
  CHECK(released("Retain").empty());
  CHECK(released("Recycle").phase == "Failed");
  CHECK(released("Recycle").message == "No recycler plugin found for the volume!");
  CHECK(released("Delete").message ==
        "error getting deleter volume plugin for volume \"v\": no deletable volume plugin "
        "matched");
  // Its provisioner deletes it.
  CHECK(released("Delete", ", annotations: {pv.kubernetes.io/provisioned-by: x.example.com}")
            .empty());
}

TEST_CASE(
    "a released volume's node removes its directory, if the policy is Delete and the node exists",
    "[volumes]") {
  const auto local = [](const std::string& policy, const std::string& phase, bool deleted) {
    return parse<PersistentVolume>(
        "metadata: {name: v, finalizers: [local-path.troupe.dev/directory]" +
        std::string{deleted ? ", deletionTimestamp: \"2026-01-01T00:00:00Z\"" : ""} +
        "}\nspec: {capacity: {storage: 1Gi}, persistentVolumeReclaimPolicy: " + policy +
        ", csi: {driver: local-path.troupe.dev, volumeHandle: v, volumeAttributes: {node: n1}}" +
        of_c + "}\nstatus: {phase: " + phase + "}\n");
  };
  CHECK(look(local("Delete", "Released", false)).remove);
  // Deleted already: its node is removing the directory.
  CHECK(look(local("Delete", "Released", true)).empty());
  CHECK(look(local("Delete", "Released", true), nullptr, false).release);
  CHECK(look(local("Retain", "Released", true)).release);
  CHECK_FALSE(
      look(local("Retain", "Bound", true), make_claim("c", "1Gi", ", volumeName: v")).release);
}

}  // namespace troupe::actors::volumes
