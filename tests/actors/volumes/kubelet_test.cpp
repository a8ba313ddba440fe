// Claims of pods on a real kubelet, with real processes.
#include <catch2/catch.hpp>
#include <filesystem>

#include "actors/kubelet/machine.hpp"
#include "actors/volumes/claim_rules.hpp"
#include "actors/volumes/defaults.hpp"
#include "support/skip.hpp"

namespace troupe::test {

using actors::volumes::PersistentVolume;
using actors::volumes::PersistentVolumeClaim;

namespace {

bool may_mount() {
  if (actors::read_node_facts().may_mount) return true;
  skip("this user may not mount");
  return false;
}

std::string pod(const std::string& name, const std::string& script, const std::string& at) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         "}\nspec:\n  terminationGracePeriodSeconds: 1\n  containers:\n  - name: c\n    image: x\n"
         "    command: [sh, -c, '" +
         script + "; exec sleep 300']\n    volumeMounts: [{name: v, mountPath: " + at +
         "}]\n  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n";
}

void create_claim(machine& here) {
  here.create(
      "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: "
      "[ReadWriteOnce], storageClassName: x, resources: {requests: {storage: 1Gi}}}\n");
}

// Binds as the binder does, for the node `node`.
void bind_claim(machine& here, const std::string& node, const std::string& source = {}) {
  const auto driver = source.empty() ? "csi: {driver: local-path.troupe.dev, volumeHandle: pvc-1, "
                                       "volumeAttributes: {node: " +
                                           node + "}}"
                                     : source;
  here.create(
      "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pvc-1, finalizers: "
      "[local-path.troupe.dev/directory]}\nspec: {accessModes: [ReadWriteOnce], "
      "persistentVolumeReclaimPolicy: Delete, capacity: {storage: 1Gi}, " +
      driver + "}\n");
  std::string uid;
  here.change<PersistentVolumeClaim>("data", [&](PersistentVolumeClaim& claim) {
    uid = claim.metadata().uid();
    claim.mutable_spec()->set_volume_name("pvc-1");
    claim.mutable_status()->set_phase("Bound");
  });
  here.change<PersistentVolume>("pvc-1", [&](PersistentVolume& volume) {
    auto& reference = *volume.mutable_spec()->mutable_claim_ref();
    reference.set_namespace_("default");
    reference.set_name("data");
    reference.set_uid(uid);
    volume.mutable_status()->set_phase("Bound");
  });
}

}  // namespace

TEST_CASE("a pod waits until its claim is bound, and its files survive it", "[kubelet][volumes]") {
  if (!may_mount()) return;
  machine here;
  here.start_kubelet();
  const auto at = (here.root().parent_path() / "data").string();
  create_claim(here);
  here.create(pod("one", "echo kept > " + at + "/file", at));
  REQUIRE(machine::wait([&] { return !here.events("one", "FailedMount").empty(); }));
  CHECK(here.events("one", "FailedMount").front() ==
        "MountVolume.SetUp failed for volume \"v\" : PVC is not bound");
  bind_claim(here, "here");
  const auto directory = here.root() / "local-volumes" / "pvc-1";
  REQUIRE(machine::wait([&] { return text_of(directory / "file") == "kept\n"; }));
  here.remove("one");
  REQUIRE(machine::wait([&] { return !here.find("one"); }));
  here.create(pod("two", "cat " + at + "/file", at));
  CHECK(machine::wait([&] { return here.log("two") == "kept\n"; }));
}

TEST_CASE("the directory of a volume goes with it, and not before the last pod that has it",
          "[kubelet][volumes]") {
  if (!may_mount()) return;
  machine here;
  here.start_kubelet();
  const auto at = (here.root().parent_path() / "data").string();
  create_claim(here);
  bind_claim(here, "here");
  here.create(pod("one", "echo kept > " + at + "/file", at));
  const auto directory = here.root() / "local-volumes" / "pvc-1";
  REQUIRE(machine::wait([&] { return text_of(directory / "file") == "kept\n"; }));
  here.change<PersistentVolume>("pvc-1", [](PersistentVolume& volume) {
    volume.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
    volume.mutable_status()->set_phase("Released");
  });
  // It is tried at once, and fails.
  here.stop_kubelet();
  CHECK(text_of(directory / "file") == "kept\n");
  here.start_kubelet();
  here.remove("one");
  REQUIRE(machine::wait([&] { return !std::filesystem::exists(directory); }));
  CHECK(machine::wait([&] {
    const auto volume = here.volume("pvc-1");
    return !volume || !actors::volumes::has_directory(volume->as<PersistentVolume>());
  }));
}

TEST_CASE("a volume of another node, and one that is no directory here, are not mounted",
          "[kubelet][volumes]") {
  machine here;
  here.start_kubelet();
  const auto [source, problem] = GENERATE(table<std::string, std::string>(
      {{"", "the volume is a directory of node there"},
       {"hostPath: {path: /srv/none, type: Directory}",
        "hostPath type check failed: /srv/none: No such file or directory"},
       {"rbd: {monitors: [m], image: i}",
        "persistent volumes of this kind are not supported here"}}));
  create_claim(here);
  bind_claim(here, "there", source);
  here.create(pod("one", "true", "/data"));
  REQUIRE(machine::wait([&] { return !here.events("one", "FailedMount").empty(); }));
  CHECK(here.events("one", "FailedMount").front() ==
        "MountVolume.SetUp failed for volume \"v\" : " + problem);
}

}  // namespace troupe::test
