// Pods of a node whose container runtime has no network yet.
#include <catch2/catch.hpp>

#include "actors/kubelet/cri/cri_server.hpp"
#include "actors/kubelet/fake_runtime.hpp"
#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"

namespace troupe::test {

namespace {

const std::string problem =
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
    "message:Network plugin returns error: cni plugin not initialized";

std::string pod(const std::string& name, const std::string& spec) {
  // The fake runtime identifies containers by their names only.
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec:\n" + spec +
         "  containers: [{name: " + name + ", image: nginx}]\n";
}

}  // namespace

TEST_CASE("a pod waits for the network and has an event, a pod of the host's network starts",
          "[kubelet]") {
  machine here;
  const auto runtime = std::make_shared<fake_runtime>();
  here.containers = runtime;
  runtime->lack_network(problem);
  here.start_kubelet();
  here.create(pod("web", ""));
  here.create(pod("host", "  hostNetwork: true\n"));
  REQUIRE(machine::wait([&] { return here.runs("host"); }));
  REQUIRE(machine::wait([&] { return !here.events("web", "NetworkNotReady").empty(); }));
  CHECK(here.events("web", "NetworkNotReady") ==
        std::vector<std::string>{"network is not ready: " + problem});
  CHECK(here.status("web").phase() == "Pending");
  CHECK(here.events("web", "FailedCreatePodSandBox").empty());
  CHECK_FALSE(runtime->was_asked("pull web"));
  runtime->lack_network({});
  CHECK(machine::wait([&] { return here.runs("web"); }));
  CHECK(here.events("web", "NetworkNotReady").size() == 1);
}

TEST_CASE("a runtime without a network has a problem, and so has its network", "[kubelet]") {
  const scratch_folder folder;
  cri_server server{folder.path() / "socket"};
  server.lack("NetworkReady", "NetworkPluginNotReady",
              "Network plugin returns error: cni plugin not initialized");
  const actors::cri_runtime runtime{
      {.root_dir = folder.path() / "kubelet", .socket = server.socket()}};
  CHECK(machine::wait([&] { return runtime.network_problem() == problem; }));
  CHECK(runtime.problem() == problem);
}

TEST_CASE("a runtime that is not ready has a problem of its own", "[kubelet]") {
  const scratch_folder folder;
  cri_server server{folder.path() / "socket"};
  server.lack("RuntimeReady", "Stopped", "it ends");
  const actors::cri_runtime runtime{
      {.root_dir = folder.path() / "kubelet", .socket = server.socket()}};
  CHECK(machine::wait([&] { return !runtime.problem().empty(); }));
  CHECK(runtime.problem() ==
        "container runtime not ready: RuntimeReady=false reason:Stopped message:it ends");
  CHECK(runtime.network_problem().empty());
}

}  // namespace troupe::test
