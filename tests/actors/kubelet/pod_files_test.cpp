// The pods' directories: no path in them leads out.
#include "actors/kubelet/volumes/pod_files.hpp"

#include <fcntl.h>
#include <sys/mount.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "actors/kubelet/node/node_facts.hpp"
#include "actors/kubelet/os/safe_files.hpp"
#include "actors/kubelet/runtimes/process/container_files.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"

namespace troupe::actors {

namespace fs = std::filesystem;

TEST_CASE("a crash-looping container keeps its last two attempts, logs included", "[kubelet]") {
  const test::scratch_folder place;
  const auto pod = place.path() / "pods" / "u";
  for (int i = 0; i <= 12; ++i) {
    fs::create_directories(attempt_path(pod, "c", i));
    fs::create_directories(pod / "logs" / "c");
    for (const char* rotation : {"", ".1", ".2"})
      std::ofstream{log_path(place.path(), "u", "c", i).string() + rotation} << "line\n";
  }
  prune_attempts(pod, "c", 12);
  for (int i = 0; i <= 12; ++i) {
    CAPTURE(i);
    CHECK(fs::exists(attempt_path(pod, "c", i)) == (i >= 11));
    CHECK(fs::exists(log_path(place.path(), "u", "c", i)) == (i >= 11));
    CHECK(fs::exists(log_path(place.path(), "u", "c", i).string() + ".2") == (i >= 11));
  }
}

TEST_CASE("a container's id is read as it was written, and nothing else is one", "[kubelet]") {
  const auto id = parse_container_id("process://u-1/c.2/13");
  REQUIRE(id);
  CHECK(id->pod_uid == "u-1");
  CHECK(id->name == "c.2");
  CHECK(id->attempt == 13);
  CHECK(id->text() == "process://u-1/c.2/13");
  for (const char* text :
       {"", "process://", "process://u/c", "process://u//1", "process:///c/1", "process://u/c/",
        "process://u/c/-1", "process://u/c/1/2", "process://../c/1", "process://u/../1",
        "process://u/./1", "u/c/1", "process://u/c/99999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_container_id(text));
  }
}

TEST_CASE("removing a tree follows no link out of it", "[kubelet]") {
  const test::scratch_folder place;
  const auto outside = place.path() / "kept", tree = place.path() / "tree";
  fs::create_directories(outside);
  place.write("kept/file", "precious");
  fs::create_directories(tree / "a" / "b");
  fs::create_directory_symlink(outside, tree / "a" / "link");
  fs::create_symlink(outside / "file", tree / "file");
  place.write("tree/a/b/c", "x");
  CHECK(remove_tree(tree));
  CHECK_FALSE(fs::exists(tree));
  CHECK(fs::exists(outside / "file"));
}

TEST_CASE("no path below a volume leads out of it", "[kubelet]") {
  const test::scratch_folder place;
  const auto volume = place.path() / "volume";
  fs::create_directories(volume / "in");
  place.write("secret", "precious");
  fs::create_symlink(place.path() / "secret", volume / "absolute");
  fs::create_symlink("../secret", volume / "relative");
  fs::create_symlink("in", volume / "within");
  fs::create_symlink("..", volume / "up");
  const auto directory = open_directory(volume);
  REQUIRE(directory);
  for (const char* path :
       {"../secret", "absolute", "relative", "up/secret", "in/../../secret", "/etc/passwd", "/"}) {
    CAPTURE(path);
    CHECK_FALSE(open_beneath(*directory, path, O_RDONLY));
    CHECK_FALSE(open_beneath(*directory, path, O_RDONLY, 0, true));
  }
  for (const char* path : {"up/made", "../made", "relative/made"}) {
    CAPTURE(path);
    CHECK_FALSE(make_beneath(*directory, path, 0755, true));
  }
  CHECK_FALSE(fs::exists(place.path() / "made"));
  CHECK_FALSE(make_beneath(*directory, "within/made", 0755));
  CHECK(make_beneath(*directory, "within/made", 0755, true));
  CHECK(fs::is_directory(volume / "in" / "made"));
  CHECK(make_beneath(*directory, "x/y/z", 0700));
  CHECK(make_beneath(*directory, "", 0700));
}

TEST_CASE("the bytes of files are counted once, and files outside are not", "[kubelet]") {
  const test::scratch_folder place;
  const auto volume = place.path() / "volume";
  fs::create_directories(volume / "a" / "b");
  const auto empty = usage_beneath(volume, 100).bytes;
  place.write("volume/a/b/file", std::string(1'000'000, 'x'));
  const auto full = usage_beneath(volume, 100).bytes;
  CHECK(full - empty >= 1'000'000);
  CHECK(full - empty < 1'200'000);
  fs::create_hard_link(volume / "a" / "b" / "file", volume / "again");
  place.write("outside", std::string(1'000'000, 'x'));
  fs::create_symlink(place.path() / "outside", volume / "link");
  fs::create_directory_symlink(place.path(), volume / "up");
  CHECK(usage_beneath(volume, 100).bytes - full < 10'000);
  CHECK(usage_beneath(volume, 1).bytes < 1'000'000);
  CHECK(usage_beneath(volume / "none", 100).bytes == 0);
}

TEST_CASE("a file system that is mounted in a directory is not accessed to measure it",
          "[kubelet]") {
  if (!read_node_facts().may_mount) return test::skip("this user may not mount");
  const test::scratch_folder place;
  const auto mounted = place.path() / "mounted";
  fs::create_directories(mounted);
  CHECK(usage_beneath(place.path(), 100).files == 1);
  REQUIRE(::mount("tmpfs", mounted.c_str(), "tmpfs", 0, nullptr) == 0);
  CHECK(usage_beneath(place.path(), 100).files == 0);
}

TEST_CASE("the containers of a pod go with their logs, and its volumes stay", "[kubelet]") {
  const test::scratch_folder place;
  const auto pod = pod_path(place.path(), "u");
  fs::create_directories(attempt_path(pod, "c", 0));
  fs::create_directories(pod / "logs" / "c");
  fs::create_directories(pod / "volumes" / "v");
  fs::create_directories(pod / "containers~" / "d");  // left by an interrupted removal
  remove_containers(pod);
  CHECK(std::distance(fs::directory_iterator{pod}, fs::directory_iterator{}) == 1);
  CHECK(fs::exists(pod / "volumes" / "v"));
  remove_containers(pod);
  CHECK(fs::exists(pod / "volumes" / "v"));
}

TEST_CASE("a pod's directory is removed although an earlier removal failed", "[kubelet]") {
  const test::scratch_folder place;
  const auto pod = pod_path(place.path(), "u");
  for (int i = 0; i < 3; ++i) {
    fs::create_directories(pod / "volumes" / "x");
    remove_pod_files(pod);
    CHECK_FALSE(fs::exists(pod));
  }
  CHECK(fs::is_empty(place.path() / "pods"));
  fs::create_directories(pod);
  fs::create_directories(pod.string() + ".deleting~3");
  CHECK(pods_on_disk(place.path()) == std::vector<std::string>{"u"});
  CHECK_FALSE(fs::exists(pod.string() + ".deleting~3"));
}

}  // namespace troupe::actors
