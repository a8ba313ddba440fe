// Control groups: their settings, and real processes in real groups if this machine allows them.
#include "actors/kubelet/runtimes/process/cgroup.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>

#include "support/scratch_folder.hpp"
#include "support/skip.hpp"

namespace troupe::actors {
namespace {

using settings = std::vector<cgroup_setting>;

constexpr std::int64_t mebibyte = 1 << 20;

std::string own_name() {
  return "test-" + std::to_string(::getpid());
}

// Runs `what` in a child in the group and returns its wait status.
int in_group(const cgroup_tree& tree, const std::string& name,
             const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    tree.enter(name);
    action();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void allocate(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) ::_exit(3);
  std::memset(memory, 1, bytes);
}

bool offers_memory(const cgroup_tree& tree) {
  if (tree.about().find("memory") != std::string::npos) return true;
  test::skip(tree.about());
  return false;
}

}  // namespace

TEST_CASE("requests and limits become the same settings as with upstream's kubelet", "[kubelet]") {
  CHECK(cgroup_settings({}, true) == settings{{"cpu", "cpu.weight", "1"}});
  CHECK(cgroup_settings({}, false) == settings{{"cpu", "cpu.shares", "2"}});
  CHECK(cgroup_settings({64 * mebibyte, 500, 250}, true) ==
        settings{{"cpu", "cpu.weight", "10"},
                 {"cpu", "cpu.max", "50000 100000"},
                 {"memory", "memory.max", "67108864"}});
  CHECK(cgroup_settings({64 * mebibyte, 1'500, 1'000}, false) ==
        settings{{"cpu", "cpu.shares", "1024"},
                 {"cpu", "cpu.cfs_period_us", "100000"},
                 {"cpu", "cpu.cfs_quota_us", "150000"},
                 {"memory", "memory.limit_in_bytes", "67108864"}});
  // The kernel rejects a quota below a millisecond.
  CHECK(cgroup_settings({{}, 1, 0}, true)[1].value == "1000 100000");
  // 1e999999999 must not become a small share.
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  CHECK(cgroup_settings({{}, most, most}, true)[0].value == "10000");
  CHECK(cgroup_settings({{}, most, most}, true)[1].value == "100000000000000 100000");
}

TEST_CASE("a machine without control groups reports it", "[kubelet]") {
  const auto tree = cgroup_tree::find("/proc/self/no-such-place");
  CHECK_FALSE(tree.available());
  CHECK(tree.about().find("none: ") == 0);
  CHECK(tree.make("x", {}).empty());
  CHECK_FALSE(tree.ran_out_of_memory("x"));
  tree.remove("x");
}

TEST_CASE("a group without a name is the folder of all groups", "[kubelet]") {
  const test::scratch_folder folder;
  for (const auto* file : {"cpu/troupe/cpu.shares", "memory/troupe/memory.limit_in_bytes",
                           "pids/troupe/uid/pids.current"}) {
    std::filesystem::create_directories((folder.path() / file).parent_path());
    folder.write(file, "7");
  }
  const auto tree = cgroup_tree::find(folder.path());
  CHECK(tree.make({}, {.memory_bytes = mebibyte, .requested_milli_cpu = 1'500}).empty());
  const auto text = [&](const char* name) {
    std::ifstream file{folder.path() / name};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  CHECK(text("cpu/troupe/cpu.shares") == "1536");
  CHECK(text("memory/troupe/memory.limit_in_bytes") == "1048576");
  CHECK(tree.processes("uid") == 7);
  CHECK(tree.processes("other") == 0);
}

TEST_CASE("a process beyond its memory limit is killed, and the kill is detected", "[kubelet]") {
  const auto tree = cgroup_tree::find();
  if (!offers_memory(tree)) return;
  const auto name = own_name();
  REQUIRE(tree.make(name, {128 * mebibyte, {}, 0}) == std::vector<std::string>{});
  CHECK(in_group(tree, name, [] { allocate(8 * mebibyte); }) == 0);
  CHECK_FALSE(tree.ran_out_of_memory(name));
  const int status = in_group(tree, name, [] { allocate(512 * mebibyte); });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
  CHECK(tree.ran_out_of_memory(name));
  tree.remove(name);
  CHECK_FALSE(tree.ran_out_of_memory(name));
}

TEST_CASE("a group ends with all that is in it", "[kubelet]") {
  const auto tree = cgroup_tree::find();
  if (!offers_memory(tree)) return;
  const auto name = own_name();
  REQUIRE(tree.make(name, {}).empty());
  int ready[2];
  REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    tree.enter(name);
    static_cast<void>(!::write(ready[1], "x", 1));
    for (;;)
      ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  tree.remove(name);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WTERMSIG(status) == SIGKILL);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("the containers of a pod have so many processes together, whoever forks", "[kubelet]") {
  const auto tree = cgroup_tree::find();
  if (tree.about().find("pids") == std::string::npos) {
    test::skip(tree.about());
    return;
  }
  constexpr int most = 12;
  const auto pod = own_name();
  const std::string one = pod + "/a-0", other = pod + "/b-0";
  for (const auto& name : {one, other})
    REQUIRE(tree.make(name, {.pod_pids = most}) == std::vector<std::string>{});
  // Forks until the limit, and leaves all children behind.
  const auto bomb = [] {
    int started = 0;
    for (pid_t child = 1; started < 100 && child > 0; started += child > 0) {
      child = ::fork();
      if (child == 0)
        for (;;)
          ::pause();
    }
    ::_exit(started);
  };
  CHECK(WEXITSTATUS(in_group(tree, one, bomb)) == most - 1);
  CHECK(WEXITSTATUS(in_group(tree, other, bomb)) == 0);
  for (const auto& name : {one, other})
    tree.remove(name);
  CHECK_FALSE(std::filesystem::exists("/sys/fs/cgroup/pids/troupe/" + pod));
}

}  // namespace troupe::actors
