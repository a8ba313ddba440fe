#include "tools/node/node_process.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "support/scratch_folder.hpp"
#include "tools/child.hpp"
#include "tools/node/node_folder.hpp"

using namespace troupe::tools;
using namespace troupe::tools::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using troupe::config::node_config;
using troupe::test::scratch_folder;

namespace {

// Parts that record their calls.
struct parts : node_parts {
  std::function<tl::expected<std::string, std::string>()> on_start;
  std::function<void()> on_stop;

  tl::expected<std::string, std::string> start() override { return on_start(); }
  void stop() override { on_stop(); }
};

tl::expected<std::string, std::string> serve() {
  return "127.0.0.1:6443";
}
void end() {
  std::cout << "stopped" << std::endl;
}
void hang() {
  for (;;)
    ::pause();
}

struct node {
  std::filesystem::path data_dir;
  std::function<tl::expected<std::string, std::string>()> start = serve;
  std::function<void()> stop = end;
  std::chrono::milliseconds limit = 60s;
  std::filesystem::path root_dir = data_dir / "kubelet";
  troupe::config::pod_runtime runtime = troupe::config::pod_runtime::process;
  std::vector<std::string> unsafe_sysctls = {};

  int operator()() const {
    node_config config;
    config.data_dir = data_dir;
    config.kubelet.root_dir = root_dir;
    config.kubelet.runtime = runtime;
    config.kubelet.allowed_unsafe_sysctls = unsafe_sysctls;
    const auto compose = [this](const node_config&) {
      auto result = std::make_unique<parts>();
      result->on_start = start;
      result->on_stop = stop;
      return result;
    };
    const auto ran = run_node(config, compose, limit);
    if (!ran) std::cout << ran.error() << std::endl;
    return ran ? 0 : 1;
  }
};

}  // namespace

TEST_CASE("a node says where it serves and ends in order at a signal") {
  if (!can_fork_with_threads()) return;
  const int signal = GENERATE(SIGTERM, SIGINT, SIGHUP);
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  child process([&] {
    ::signal(SIGHUP, SIG_DFL);  // the tests may run under nohup
    return node{.data_dir = data}();
  });
  REQUIRE(process.says("ready https://127.0.0.1:6443 KUBECONFIG=" + data.string() +
                       "/admin.kubeconfig\n"));
  process.signal(signal);
  CHECK(process.wait() == 0);
  CHECK_THAT(process.out(), Contains("stopped"));
  CHECK_THAT(process.err(), Contains("info    troupe: stopping: "));
}

TEST_CASE("a node that nohup started outlives its terminal") {
  if (!can_fork_with_threads()) return;
  const scratch_folder folder;
  child process([&] {
    ::signal(SIGHUP, SIG_IGN);
    return node{.data_dir = folder.path()}();
  });
  REQUIRE(process.says("ready"));
  process.signal(SIGHUP);
  process.signal(SIGTERM);
  CHECK(process.wait() == 0);
  CHECK_THAT(process.err(), Contains("troupe: stopping: Terminated"));
}

TEST_CASE("a node that is to allow kernel parameters of the whole machine does not start") {
  if (!can_fork_with_threads()) return;
  const scratch_folder folder;
  child process(node{.data_dir = folder.path() / "data", .unsafe_sysctls = {"net.*", "kernel.*"}});
  CHECK(process.wait() == 1);
  CHECK_THAT(process.out(), Contains("kubelet.allowedUnsafeSysctls: \"kernel.*\" is no kernel "
                                     "parameter of a pod's own namespaces"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "data"));
}

TEST_CASE("a signal that comes while the node starts is not lost") {
  if (!can_fork_with_threads()) return;
  const scratch_folder folder;
  child process(node{.data_dir = folder.path(), .start = [] {
                       ::kill(::getpid(), SIGTERM);
                       return serve();
                     }});
  CHECK(process.wait() == 0);
  CHECK_THAT(process.out(), Contains("stopped"));
}

TEST_CASE("an end that hangs is cut off at the limit") {
  if (!can_fork_with_threads()) return;
  const scratch_folder folder;
  child process(node{.data_dir = folder.path(), .stop = hang, .limit = 50ms});
  REQUIRE(process.says("ready"));
  process.signal(SIGTERM);
  CHECK(process.wait() == 1);
  CHECK_THAT(process.err(), Contains("troupe: did not end within 50 ms, exiting\n"));
}

TEST_CASE("a second Ctrl-C ends at once") {
  if (!can_fork_with_threads()) return;
  const scratch_folder folder;
  const auto hang_aloud = [] {
    std::cout << "stopping" << std::endl;
    hang();
  };
  child process(node{.data_dir = folder.path(), .stop = hang_aloud, .limit = 1h});
  REQUIRE(process.says("ready"));
  process.signal(SIGINT);
  REQUIRE(process.says("stopping"));
  process.signal(SIGINT);
  CHECK(process.wait() == 128 + SIGINT);
}

TEST_CASE("a node that cannot start says why and never says ready") {
  if (!can_fork_with_threads()) return;
  const scratch_folder folder;
  child process(node{.data_dir = folder.path(), .start = [] {
                       return tl::make_unexpected(std::string("port 6443 is in use"));
                     }});
  CHECK(process.wait() == 1);
  CHECK(process.out() == "port 6443 is in use\n");
}

TEST_CASE("a second node on the same data dir is refused, after a kill -9 it is not") {
  if (!can_fork_with_threads()) return;
  const scratch_folder folder;
  child first(node{.data_dir = folder.path()});
  REQUIRE(first.says("ready"));
  child second(node{.data_dir = folder.path()});
  CHECK(second.wait() == 1);
  CHECK(second.out() == "data dir " + folder.path().string() +
                            ": in use by another node (process " + std::to_string(first.id()) +
                            "); name another with --data-dir\n");
  first.signal(SIGKILL);
  CHECK(first.wait() == -SIGKILL);
  child third(node{.data_dir = folder.path()});
  CHECK(third.says("ready"));
}

TEST_CASE("a second node on the same root dir is refused, unless its pods are simulated") {
  if (!can_fork_with_threads()) return;
  const scratch_folder folder;
  const auto root = folder.path() / "pods";
  child first(node{.data_dir = folder.path() / "a", .root_dir = root});
  REQUIRE(first.says("ready"));
  child second(node{.data_dir = folder.path() / "b", .root_dir = root});
  CHECK(second.wait() == 1);
  CHECK(second.out() == "root dir " + root.string() + ": in use by another node (process " +
                            std::to_string(first.id()) + "); name another with --root-dir\n");
  child third(node{.data_dir = folder.path() / "b",
                   .root_dir = root,
                   .runtime = troupe::config::pod_runtime::simulated});
  CHECK(third.says("ready"));
}

TEST_CASE("an unusable root dir is refused before anything starts") {
  if (!can_fork_with_threads()) return;
  const scratch_folder folder;
  const auto run = [&](const std::filesystem::path& root) {
    child process(node{.data_dir = folder.path() / "data", .root_dir = root});
    CHECK(process.wait() == 1);
    return process.out();
  };
  const auto file = folder.write("file", "");
  CHECK(run(file) ==
        "root dir " + file.string() + ": is not a folder; name another with --root-dir\n");
  CHECK_THAT(run("/proc/nope"), Contains("root dir /proc/nope: cannot be made: "));
  std::filesystem::create_directory(folder.path() / "root");
  const auto pods = folder.write("root/pods", "");
  CHECK(run(folder.path() / "root") == "cannot make " + pods.string() + ": Not a directory\n");
}

TEST_CASE("the data dir is made for its owner alone") {
  const scratch_folder folder;
  const auto data = folder.path() / "some" / "where";
  REQUIRE(node_folder::lock_data_dir(data));
  struct stat status {};
  REQUIRE(::stat(data.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0700);
}

TEST_CASE("an unusable data dir is refused by name") {
  const scratch_folder folder;
  const auto file = folder.write("file", "");
  CHECK(node_folder::lock_data_dir(file).error() ==
        "data dir " + file.string() + ": is not a folder; name another with --data-dir");
  CHECK_THAT(node_folder::lock_data_dir(file / "below").error(),
             Contains("cannot be made: Not a directory"));
  CHECK_THAT(node_folder::lock_data_dir("/proc/self/troupe").error(), Contains("cannot be made: "));
  CHECK_THAT(node_folder::lock_data_dir("/proc/self").error(), Contains("cannot be written to: "));
}

TEST_CASE("systemd is notified when the node serves and when it stops") {
  if (!can_fork_with_threads()) return;
  const scratch_folder folder;
  const auto path = folder.path() / "notify";
  const int inbox = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(inbox, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  const auto heard = [&] {
    std::array<char, 256> text{};
    const timeval patience{60, 0};
    ::setsockopt(inbox, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const auto size = ::recv(inbox, text.data(), text.size(), 0);
    return std::string(text.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  };
  child process([&] {
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    return node{.data_dir = folder.path() / "data"}();
  });
  CHECK_THAT(heard(), Contains("READY=1"));
  process.signal(SIGTERM);
  CHECK_THAT(heard(), Contains("STOPPING=1"));
  CHECK(process.wait() == 0);
  ::close(inbox);
}
