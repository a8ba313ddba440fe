// The directories of local volumes on disk.
#include "actors/kubelet/volumes/local_volumes.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "actors/kubelet/volumes/pod_files.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

struct machine {
  test::scratch_folder folder;
  fs::path root = folder.path();

  machine() { REQUIRE(make_root(root)); }
  fs::path pod(const std::string& uid) const { return pod_path(root, uid); }
  fs::path volume(const std::string& name) const { return root / "local-volumes" / name; }
};

}  // namespace

TEST_CASE("a local volume keeps its files from pod to pod, and goes when no pod has it",
          "[kubelet]") {
  machine here;
  const auto first = take_local_volume(here.root, here.pod("one"), "pvc-1");
  REQUIRE(first);
  CHECK(*first == here.volume("pvc-1"));
  std::ofstream{fs::path{*first} / "file"} << "kept";
  CHECK(has_local_volume(here.pod("one"), "pvc-1"));
  CHECK(remove_local_volume(here.root, "pvc-1") == volume_removal::in_use);

  remove_pod_files(here.pod("one"));
  const auto second = take_local_volume(here.root, here.pod("two"), "pvc-1");
  REQUIRE(second);
  CHECK(fs::exists(fs::path{*second} / "file"));
  CHECK(remove_local_volume(here.root, "pvc-1") == volume_removal::in_use);

  remove_pod_files(here.pod("two"));
  CHECK(remove_local_volume(here.root, "pvc-1") == volume_removal::done);
  CHECK_FALSE(fs::exists(here.volume("pvc-1")));
  CHECK(remove_local_volume(here.root, "pvc-1") == volume_removal::done);
}

TEST_CASE("no name of a volume leads out of the directory of the volumes", "[kubelet]") {
  machine here;
  fs::create_directories(here.root / "precious");
  for (const auto* name : {"..", "../precious", ".", "", "a/b", "/etc", "pvc.deleting~"}) {
    CHECK_FALSE(take_local_volume(here.root, here.pod("one"), name));
    CHECK(remove_local_volume(here.root, name) == volume_removal::done);
  }
  CHECK(fs::exists(here.root / "precious"));
  CHECK(fs::exists(here.root / "pods"));
}

TEST_CASE("a link in place of a volume is removed, and its target is kept", "[kubelet]") {
  machine here;
  const auto outside = here.root / "outside";
  fs::create_directories(outside / "precious");
  fs::create_directories(here.root / "local-volumes");
  fs::create_directory_symlink(outside, here.volume("pvc-1"));
  CHECK_FALSE(take_local_volume(here.root, here.pod("one"), "pvc-1"));
  remove_pod_files(here.pod("one"));
  CHECK(remove_local_volume(here.root, "pvc-1") == volume_removal::done);
  CHECK(fs::exists(outside / "precious"));
}

TEST_CASE("the removal of a local volume that was interrupted is finished by the next",
          "[kubelet]") {
  machine here;
  fs::create_directories(here.volume("pvc-1.deleting~") / "deep" / "er");
  REQUIRE(take_local_volume(here.root, here.pod("one"), "pvc-1"));
  remove_pod_files(here.pod("one"));
  CHECK(remove_local_volume(here.root, "pvc-1") == volume_removal::done);
  CHECK(fs::is_empty(here.root / "local-volumes"));
}

}  // namespace troupe::actors
