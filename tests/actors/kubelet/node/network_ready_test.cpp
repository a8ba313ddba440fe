// Nodes whose container runtime has no network yet, or lacks something else.
#include <catch2/catch.hpp>
#include <filesystem>

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

TEST_CASE("a sandbox image that cannot be pulled is a problem until it is there", "[kubelet]") {
  const scratch_folder folder;
  cri_server server{folder.path() / "socket"};
  server.configure(R"({"sandboxImage":"localhost/pause:1"})");
  server.lack_image("localhost/pause:1", "no such host");
  const actors::cri_runtime runtime{
      {.root_dir = folder.path() / "kubelet", .socket = server.socket()}};
  CHECK(machine::wait([&] { return !runtime.problem().empty(); }));
  CHECK(runtime.problem() ==
        "the image localhost/pause:1 of sandboxes is missing and cannot be pulled (no such host): "
        "import it by `troupe image import`");
  server.import_image("localhost/pause:1");
  CHECK(machine::wait([&] { return runtime.problem().empty(); }));
}

TEST_CASE("a sandbox image that is missing is pulled, and no problem", "[kubelet]") {
  const scratch_folder folder;
  cri_server server{folder.path() / "socket"};
  server.configure(R"({"sandboxImage":"localhost/pause:1"})");
  server.lack_image("localhost/pause:1", {});
  const actors::cri_runtime runtime{
      {.root_dir = folder.path() / "kubelet", .socket = server.socket()}};
  REQUIRE(server.await_call("PullImage"));
  const auto checks = server.calls("Status");
  REQUIRE(machine::wait([&] { return server.calls("Status") > checks; }));
  CHECK(runtime.problem().empty());
  CHECK(server.calls("PullImage") == 1);
}

TEST_CASE("a sandbox image whose pull does not end is a problem until it is there", "[kubelet]") {
  const scratch_folder folder;
  cri_server server{folder.path() / "socket"};
  server.configure(R"({"sandboxImage":"localhost/pause:1"})");
  server.lack_image("localhost/pause:1", "no such host");
  server.hold("PullImage");
  const actors::cri_runtime runtime{
      {.root_dir = folder.path() / "kubelet", .socket = server.socket()}};
  REQUIRE(machine::wait([&] { return !runtime.problem().empty(); }));
  CHECK(runtime.problem() ==
        "the image localhost/pause:1 of sandboxes is missing and is being pulled");
  server.import_image("localhost/pause:1");
  CHECK(machine::wait([&] { return runtime.problem().empty(); }));
  CHECK(server.calls("PullImage") == 1);
}

TEST_CASE("a runtime that uses systemd is a problem on a machine where it does not run",
          "[kubelet]") {
  const scratch_folder folder;
  cri_server server{folder.path() / "socket"};
  server.set_driver(cri::SYSTEMD);
  const actors::cri_runtime runtime{{.root_dir = folder.path() / "kubelet",
                                     .socket = server.socket(),
                                     .systemd = folder.path() / "systemd"}};
  CHECK(machine::wait([&] { return !runtime.problem().empty(); }));
  CHECK(runtime.problem() ==
        "container runtime makes control groups by systemd, which does not run on this machine: "
        "set SystemdCgroup = false in its configuration and restart it");
  CHECK(runtime.has_systemd_groups());
  std::filesystem::create_directory(folder.path() / "systemd");
  CHECK(machine::wait([&] { return runtime.problem().empty(); }));
}

}  // namespace troupe::test
