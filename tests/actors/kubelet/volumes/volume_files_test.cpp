// Volumes on disk: files that are replaced atomically, mount points that are created and removed.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <random>

#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/runtimes/process/mount_points.hpp"
#include "actors/kubelet/volumes/pod_volumes.hpp"
#include "actors/kubelet/volumes/volume_writer.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::actors {

namespace fs = std::filesystem;
using test::text_of;

namespace {

// The files that a container sees, with their content, through the links.
std::map<std::string, std::string> visible(const fs::path& volume) {
  std::map<std::string, std::string> all;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (const auto& top : fs::directory_iterator{volume}) {
    const auto name = top.path().filename().string();
    if (name.starts_with("..")) continue;
    if (fs::is_regular_file(top)) all[name] = text_of(top);
    if (fs::is_directory(top))
      for (const auto& entry : fs::recursive_directory_iterator{top, options})
        if (fs::is_regular_file(entry))
          all[entry.path().lexically_relative(volume)] = text_of(entry.path());
  }
  return all;
}

int mode_of(const fs::path& path) {
  struct stat info {};
  ::stat(path.c_str(), &info);
  return static_cast<int>(info.st_mode & 07777);
}

}  // namespace

TEST_CASE("a volume shows exactly its newest files", "[kubelet]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const test::scratch_folder place;
    std::mt19937_64 random{seed};
    for (int round = 0; round < 10; ++round) {
      std::map<std::string, std::string> wanted;
      std::vector<volume_file> files;
      for (const char* path : {"a", "b", "dir/a", "dir/b", "deep/er/c", "x.y"})
        if (random() % 2 == 0) wanted[path] = std::to_string(random() % 3);
      for (const auto& [path, content] : wanted)
        files.push_back({path, content, random() % 2 == 0 ? 0644 : 0400});
      const auto written = write_volume(place.path(), files);
      CAPTURE(seed, round);
      REQUIRE(written);
      CHECK(visible(place.path()) == wanted);
      for (const auto& file : files)
        CHECK(mode_of(place.path() / file.path) == file.mode);
      for (const auto& entry : fs::directory_iterator{place.path()})
        CHECK(fs::exists(entry));  // no dangling link
      // One directory of files, one link to it.
      CHECK(std::count_if(fs::directory_iterator{place.path()}, fs::directory_iterator{},
                          [](const auto& entry) {
                            return entry.path().filename().string().starts_with("..");
                          }) == 2);
    }
  }
}

TEST_CASE("a volume with up-to-date files is left unchanged", "[kubelet]") {
  const test::scratch_folder place;
  const std::vector<volume_file> files{{"a", "1"}};
  REQUIRE(write_volume(place.path(), files));
  const auto before = fs::read_symlink(place.path() / "..data");
  const auto inner = fs::last_write_time(place.path() / "a");
  REQUIRE(write_volume(place.path(), files));
  CHECK(fs::read_symlink(place.path() / "..data") == before);
  CHECK(fs::last_write_time(place.path() / "a") == inner);
}

TEST_CASE("links that a container puts into a volume lead no write out of it", "[kubelet]") {
  const test::scratch_folder place;
  const auto volume = place.path() / "volume", outside = place.path() / "outside";
  fs::create_directories(volume);
  fs::create_directories(outside);
  place.write("outside/a", "precious");
  const std::vector<volume_file> files{{"a", "mine"}, {"dir/b", "mine"}};
  fs::create_directory_symlink(outside, volume / "..data");
  fs::create_directory_symlink(outside, volume / (".." + digest_of(files)));
  fs::create_symlink(outside / "a", volume / "a");
  fs::create_directory_symlink(outside, volume / "dir");
  REQUIRE(write_volume(volume, files));
  CHECK(visible(volume) == std::map<std::string, std::string>{{"a", "mine"}, {"dir/b", "mine"}});
  CHECK(text_of(outside / "a") == "precious");
  CHECK(std::distance(fs::directory_iterator{outside}, fs::directory_iterator{}) == 1);
}

TEST_CASE("hostPath types are checked, and made where they are asked for", "[kubelet]") {
  const test::scratch_folder place;
  const auto file = place.write("file", "x").string(), folder = place.path().string();
  CHECK(check_host_path(folder + "/simple/deep", ""));
  CHECK(fs::is_directory(folder + "/simple/deep"));
  CHECK(check_host_path(file, ""));
  CHECK_FALSE(check_host_path(file + "/below", ""));
  CHECK(check_host_path(folder, "Directory"));
  CHECK(check_host_path(file, "File"));
  CHECK(check_host_path("/dev/null", "CharDevice"));
  for (const auto& [path, type] :
       {std::pair{file, "Directory"}, std::pair{folder, "File"}, std::pair{file, "Socket"},
        std::pair{file, "BlockDevice"}, std::pair{file, "DirectoryOrCreate"},
        std::pair{folder, "FileOrCreate"}}) {
    CAPTURE(path, type);
    CHECK(check_host_path(path, type).error() ==
          "hostPath type check failed: " + path + " is not of type " + type);
  }
  CHECK_FALSE(check_host_path(folder + "/none", "Directory"));
  CHECK(check_host_path(folder + "/made/deep", "DirectoryOrCreate"));
  CHECK(fs::is_directory(folder + "/made/deep"));
  CHECK(check_host_path(folder + "/made/file", "FileOrCreate"));
  CHECK(fs::is_regular_file(folder + "/made/file"));
  CHECK_FALSE(check_host_path(folder + "/none/file", "FileOrCreate"));
}

TEST_CASE("a mount point exists while a pod uses it, and is removed empty", "[kubelet]") {
  const test::scratch_folder place;
  const auto root = place.path() / "root", there = place.path() / "there";
  fs::create_directories(there);
  const auto file = place.write("file", "x");
  const auto deep = (there / "a" / "b").string(), single = (there / "c" / "one").string();
  REQUIRE(prepare_mounts(root, "u1", {{place.path(), "", deep, false}, {file, "", single, false}}));
  CHECK(fs::is_directory(deep));
  CHECK(fs::is_regular_file(single));
  REQUIRE(prepare_mounts(root, "u2", {{place.path(), "", deep, false}}));
  release_mount_points(root, "u1");
  CHECK(fs::is_directory(deep));
  CHECK_FALSE(fs::exists(there / "c"));
  place.write("there/a/kept", "of somebody");
  release_mount_points(root, "u2");
  CHECK_FALSE(fs::exists(deep));
  CHECK(fs::exists(there / "a" / "kept"));
  CHECK(fs::is_empty(root / "mount-points"));
  // Existing files were not created by us and stay.
  fs::create_directories(deep);
  REQUIRE(prepare_mounts(root, "u3", {{place.path(), "", deep, false}}));
  release_mount_points(root, "u3");
  CHECK(fs::is_directory(deep));
}

TEST_CASE("an impossible mount fails with a reason", "[kubelet]") {
  const test::scratch_folder place;
  const auto root = place.path() / "root";
  const auto file = place.write("file", "x").string(), folder = place.path().string();
  CHECK(prepare_mounts(root, "u", {{folder, "", file, false}}).error() ==
        "cannot make a mount point at " + file + ": it is not a directory");
  CHECK(prepare_mounts(root, "u", {{file, "", folder, false}}).error() ==
        "cannot make a mount point at " + folder + ": it is a directory");
  CHECK_FALSE(prepare_mounts(root, "u", {{folder, "", "/", false}}));
  CHECK_FALSE(prepare_mounts(root, "u", {{folder + "/none", "", folder, false}}));
}

TEST_CASE("a subPath is made in its volume, and leads nowhere else", "[kubelet]") {
  const test::scratch_folder place;
  const auto root = place.path() / "root", volume = place.path() / "volume",
             target = place.path() / "target";
  fs::create_directories(volume);
  fs::create_directories(target);
  REQUIRE(prepare_mounts(root, "u", {{volume, "x/y", target, false}}));
  CHECK(fs::is_directory(volume / "x" / "y"));
  fs::create_directory_symlink("/etc", volume / "out");
  fs::create_directory_symlink("x", volume / "in");
  CHECK_FALSE(prepare_mounts(root, "u", {{volume, "out", target, false}}));
  CHECK_FALSE(prepare_mounts(root, "u", {{volume, "../volume", target, false}}));
  CHECK(prepare_mounts(root, "u", {{volume, "in/y", target, false}}));
  // An absolute link is valid if it leads into the volume.
  fs::create_directory_symlink(volume / "x", volume / "whole");
  CHECK(prepare_mounts(root, "u", {{volume, "whole/y", target, false}}));
  fs::create_directory_symlink(volume.string() + "2", volume / "next");
  fs::create_directories(volume.string() + "2");
  CHECK_FALSE(prepare_mounts(root, "u", {{volume, "next", target, false}}));
}

}  // namespace troupe::actors
