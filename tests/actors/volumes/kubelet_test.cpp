// Claims of pods on a real kubelet, with real processes.
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "actors/kubelet/fake_runtime.hpp"
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

// A local volume at `path`, with a raw device or with a file system.
std::string local_spec(const std::string& path, const std::string& mode = "Block") {
  return "volumeMode: " + mode + ", local: {path: " + path +
         "}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: "
         "Exists}]}]}}";
}

// Its container names the claim as `use`: volumeDevices or volumeMounts with their path.
std::string device_pod(const std::string& use, bool read_only = false) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: one}\nspec:\n  containers:\n  - {name: c, "
         "image: x, command: [sleep, '300'], " +
         use + "}\n  volumes: [{name: v, persistentVolumeClaim: {claimName: data, readOnly: " +
         (read_only ? "true" : "false") + "}}]\n";
}

const std::string as_device = "volumeDevices: [{name: v, devicePath: /dev/xvda}]";
const std::string as_mount = "volumeMounts: [{name: v, mountPath: /data}]";

// A link to a new block device, which nothing opens; empty: this user may make none.
std::string make_device(const std::filesystem::path& folder) {
  const auto device = folder / "device", link = folder / "link";
  if (::mknod(device.c_str(), S_IFBLK | 0600, makedev(7, 0)) != 0) {
    skip("this user may make no block device");
    return {};
  }
  std::filesystem::create_symlink(device, link);
  return link;
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
  // It is tried at once, without success.
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

TEST_CASE("a raw device is passed to the container that names it", "[kubelet][volumes]") {
  const bool read_only = GENERATE(false, true);
  machine here;
  const auto path = make_device(here.root().parent_path());
  if (path.empty()) return;
  const auto runtime = std::make_shared<fake_runtime>();
  here.containers = runtime;
  here.start_kubelet();
  create_claim(here);
  bind_claim(here, "here", local_spec(path));
  here.create(device_pod(as_device, read_only));
  const auto created = "create c 0 in s1 from sha256:x with " + path + " as /dev/xvda" +
                       (read_only ? ", read-only" : "");
  CHECK(machine::wait([&] { return runtime->was_asked(created); }));
}

TEST_CASE("a missing raw device, and a volume that is used as another mode, hold the pod back",
          "[kubelet][volumes]") {
  machine here;
  const auto folder = here.root().parent_path();
  std::filesystem::create_directory(folder / "folder");
  const auto path = make_device(folder);
  if (path.empty()) return;
  const auto at = [&](const char* name) { return (folder / name).string(); };
  struct row {
    std::string source, use, reason, problem;
  };
  const std::string mount = "MountVolume.SetUp failed for volume \"v\" : ";
  const std::string map = "MapVolume.MapBlockVolume failed for volume \"v\" : ";
  const std::vector<row> rows{
      {local_spec(at("none")), as_device, "FailedMapVolume",
       map + "path \"" + at("none") + "\" does not exist: No such file or directory"},
      {local_spec(at("folder")), as_device, "FailedMapVolume",
       map + "path \"" + at("folder") + "\" is not a block device"},
      {"volumeMode: Block, hostPath: {path: " + path + "}", as_device, "FailedMapVolume",
       map + "persistent volumes of this kind cannot be raw devices here"},
      {local_spec(path), as_mount, "FailedMount",
       mount + "volume v has volumeMode Block, but is specified in volumeMounts"},
      {local_spec(at("folder"), "Filesystem"), as_device, "FailedMount",
       mount + "volume v has volumeMode Filesystem, but is specified in volumeDevices"},
      {local_spec(path, "Filesystem"), as_mount, "FailedMount",
       mount + "path \"" + path +
           "\" is not a directory; for a block device set volumeMode: Block"}};
  const auto& [source, use, reason, problem] =
      rows[static_cast<std::size_t>(GENERATE(range(0, 6)))];
  here.start_kubelet();
  create_claim(here);
  bind_claim(here, "here", source);
  here.create(device_pod(use));
  REQUIRE(machine::wait([&] { return !here.events("one", reason).empty(); }));
  CHECK(here.events("one", reason).front() == problem);
}

TEST_CASE("a container is not created if it uses a raw device in a way that is not possible",
          "[kubelet][volumes]") {
  machine here;
  const auto path = make_device(here.root().parent_path());
  if (path.empty()) return;
  const bool relative = GENERATE(true, false);
  if (relative) here.containers = std::make_shared<fake_runtime>();
  here.start_kubelet();
  create_claim(here);
  bind_claim(here, "here", local_spec(path));
  here.create(device_pod(relative ? "volumeDevices: [{name: v, devicePath: xvda}]" : as_device));
  REQUIRE(machine::wait([&] { return !here.events("one", "Failed").empty(); }));
  CHECK(here.events("one", "Failed").front() ==
        (relative ? "Error: error DevicePath `xvda` must be an absolute path"
                  : "Error: container \"c\" has volumeDevices: the process runtime has no raw "
                    "devices for containers; use an image runtime"));
}

TEST_CASE("a debug container that mounts a raw device is not created", "[kubelet][volumes]") {
  machine here;
  const auto path = make_device(here.root().parent_path());
  if (path.empty()) return;
  here.containers = std::make_shared<fake_runtime>();
  here.start_kubelet();
  create_claim(here);
  bind_claim(here, "here", local_spec(path));
  here.create(device_pod(as_device));
  REQUIRE(machine::wait([&] { return here.runs("one"); }));
  here.change<api::core::v1::Pod>("one", [](api::core::v1::Pod& pod) {
    auto& added =
        *pod.mutable_spec()->add_ephemeral_containers()->mutable_ephemeral_container_common();
    added.set_name("seer");
    added.set_image("x");
    auto& mount = *added.add_volume_mounts();
    mount.set_name("v");
    mount.set_mount_path("/data");
  });
  REQUIRE(machine::wait([&] { return !here.events("one", "Failed").empty(); }));
  CHECK(here.events("one", "Failed").front() ==
        "Error: cannot find volume \"v\" to mount into container \"seer\"");
}

}  // namespace troupe::test
