// Which runtime runs the pods of a node, given its existing pods.
#include "tools/node/runtime_choice.hpp"

#include <catch2/catch.hpp>

#include "support/scratch_folder.hpp"

using namespace troupe;
using namespace troupe::tools;
using config::pod_runtime;

namespace {

const tl::expected<std::string, std::string> answers = "containerd 1.6.20";
const tl::expected<std::string, std::string> silent =
    tl::make_unexpected(std::string{"nothing answers at /x"});

}  // namespace

TEST_CASE("a node without pods runs images where a container runtime answers, else processes") {
  const auto with = choose_runtime(pods_here::none, answers, "/x");
  CHECK(with.images);
  CHECK(with.log == "containers are run by containerd 1.6.20 at /x");
  const auto without = choose_runtime(pods_here::none, silent, "/x");
  CHECK_FALSE(without.images);
  CHECK(without.log == "containers run as processes of this machine, since nothing answers at /x");
}

TEST_CASE("existing pods keep their runtime, whatever answers") {
  const auto processes = choose_runtime(pods_here::processes, answers, "/x");
  CHECK_FALSE(processes.images);
  CHECK(processes.log ==
        "containers run as processes of this machine, as the existing pods do; containerd 1.6.20 "
        "at /x is used once the node is drained and restarted");
  CHECK_FALSE(choose_runtime(pods_here::processes, silent, "/x").images);
  CHECK(choose_runtime(pods_here::containers, silent, "/x").images);
}

TEST_CASE("a runtime that was named is refused while pods of the other one are here") {
  const auto refused = check_runtime(pod_runtime::cri, pods_here::processes, "/data");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        "root dir /data: has pods that run as processes of this machine; start the node with "
        "--runtime process, drain it (kubectl drain), then start it with the other one");
  CHECK_FALSE(check_runtime(pod_runtime::process, pods_here::containers, "/data"));
  CHECK(check_runtime(pod_runtime::process, pods_here::processes, "/data"));
  CHECK(check_runtime(pod_runtime::automatic, pods_here::processes, "/data"));
  CHECK(check_runtime(pod_runtime::cri, pods_here::none, "/data"));
}

TEST_CASE("how pods run is seen from their files") {
  const test::scratch_folder folder;
  CHECK(find_pods(folder.path()) == pods_here::none);
  std::filesystem::create_directories(folder.path() / "pods" / "a" / "volumes");
  CHECK(find_pods(folder.path()) == pods_here::none);
  std::filesystem::create_directories(folder.path() / "pods" / "b" / "messages");
  CHECK(find_pods(folder.path()) == pods_here::containers);
  std::filesystem::create_directories(folder.path() / "pods" / "c" / "containers");
  CHECK(find_pods(folder.path()) == pods_here::processes);
}
