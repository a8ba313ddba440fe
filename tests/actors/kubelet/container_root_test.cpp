// A container's view of the file system on a node whose own root is a chroot: in a child process,
// with which its mount namespace and root disappear. Needs root.
#include "actors/kubelet/runtimes/process/container_root.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "actors/kubelet/os/mount_table.hpp"
#include "actors/kubelet/security/process_identity.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"

namespace troupe::test {

namespace {

namespace fs = std::filesystem;
constexpr unsigned long propagation[] = {MS_PRIVATE, MS_SHARED};

bool mount(const char* source, const fs::path& at, const char* type, unsigned long flags) {
  return ::mount(source, at.c_str(), type, flags, nullptr) == 0;
}

// The error; empty if a volume is mounted at its place and invisible outside.
std::string container_in(const fs::path& root) {
  const auto outside = actors::read_mounts().size();
  const int before = ::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (::chroot(root.c_str()) != 0 || ::chdir("/") != 0) return "no chroot";
  actors::container_spec spec;
  spec.mounts = {{.source = "/volume", .sub_path = {}, .target = "/data"}};
  spec.security = actors::process_security{.confined_by = actors::confinement::namespaces};
  if (const auto made = actors::make_container_root(spec); !made) return made.error();
  if (::access("/data/file", R_OK) != 0) return "the volume is not at its place";
  if (::access("/volume/../../usr/bin", F_OK) == 0) return "the chroot can be left";
  if (::setns(before, CLONE_NEWNS) != 0) return "no way back";
  const auto after = actors::read_mounts().size();
  return after == outside ? "" : std::to_string(after - outside) + " mounts are seen outside";
}

}  // namespace

TEST_CASE("a container has its volumes on a node in a chroot whose root is no mount point",
          "[kubelet]") {
  const auto rights = actors::read_rights();
  if (rights.user != 0 || !rights.has("SYS_ADMIN")) return skip("this user is not root");
  const auto mounts = actors::read_mounts();
  if (std::none_of(mounts.begin(), mounts.end(),
                   [](const auto& each) { return each.point == "/"; }))
    return skip("this machine is such a node: all tests of volumes try it");
  const auto flags = propagation[GENERATE(0, 1)];
  const scratch_folder folder;
  const auto root = folder.path();
  for (const auto* each : {"proc", "dev", "volume", "data"})
    fs::create_directory(root / each);
  std::ofstream{root / "volume/file"} << "text";
  int answer[2];
  REQUIRE(::pipe(answer) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string problem = "no mounts";
    if (::unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE) &&
        mount(nullptr, "/", nullptr, MS_REC | flags) && mount("proc", root / "proc", "proc", 0) &&
        mount("/dev", root / "dev", nullptr, MS_BIND | MS_REC))
      problem = container_in(root);
    static_cast<void>(!::write(answer[1], problem.data(), problem.size()));
    ::_exit(0);
  }
  ::close(answer[1]);
  char problem[256] = {};
  static_cast<void>(!::read(answer[0], problem, sizeof problem - 1));
  ::close(answer[0]);
  CHECK(::waitpid(child, nullptr, 0) == child);
  CHECK(std::string{problem}.empty());
}

}  // namespace troupe::test
