#include "persistence/small_disk.hpp"

#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "support/skip.hpp"

namespace troupe::persistence::testing {

namespace fs = std::filesystem;

std::uint64_t disk_usage(const std::string& directory) {
  std::uint64_t sum = 0;
  std::error_code bad;
  for (const auto& each : fs::directory_iterator{directory, bad}) {
    struct stat found {};
    if (::stat(each.path().c_str(), &found) == 0)
      sum += static_cast<std::uint64_t>(found.st_blocks) * 512;
  }
  return sum;
}

bool small_disk::possible() {
  static const bool fine = ::unshare(CLONE_NEWNS) == 0 &&
                           ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  if (!fine) test::skip("this user may not make mount namespaces");
  return fine;
}

small_disk::small_disk(std::uint64_t size_bytes) {
  std::string pattern = (fs::temp_directory_path() / "troupe-disk-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  folder_ = pattern;
  const auto size = "size=" + std::to_string(size_bytes);
  REQUIRE(::mount("none", folder_.c_str(), "tmpfs", 0, size.c_str()) == 0);
  root_ = "/proc/" + std::to_string(::getpid()) + "/root" + folder_;
}

small_disk::~small_disk() {
  ::umount2(folder_.c_str(), MNT_DETACH);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::uint64_t small_disk::available_bytes() const {
  struct statvfs found {};
  REQUIRE(::statvfs(root_.c_str(), &found) == 0);
  return static_cast<std::uint64_t>(found.f_bavail) * found.f_frsize;
}

void small_disk::fill(std::uint64_t but_bytes) const {
  std::ofstream filler{path("filler"), std::ios::binary | std::ios::app};
  const std::string block(4 << 10, 'f');
  while (available_bytes() > but_bytes &&
         filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
  }
}

void small_disk::empty() const {
  fs::remove(path("filler"));
}

}  // namespace troupe::persistence::testing
