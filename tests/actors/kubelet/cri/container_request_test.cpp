// Raw devices and SELinux options of pods in the requests of the container runtime interface.
#include "actors/kubelet/runtimes/cri/container_request.hpp"

#include <catch2/catch.hpp>

#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Pod;

namespace {

const cri_node own_node{.root_dir = "/data", .dns = {}};

container_config first_container(const Pod& pod) {
  container_config config;
  config.pod =
      std::make_shared<const api::object>(api::kind_of<Pod>(), std::make_unique<Pod>(pod), 1);
  config.spec = {config.pod, &config.pod->as<Pod>().spec().containers(0)};
  return config;
}

}  // namespace

TEST_CASE("a raw device is for reading and writing, that of a read-only claim for reading",
          "[kubelet]") {
  Pod pod;
  pod.mutable_spec()->add_containers()->set_name("main");
  auto config = first_container(pod);
  config.devices = {{"/dev/disk/one", "/dev/xvda"}, {"/dev/disk/two", "/dev/xvdb", true}};
  const auto made = container_request(config, own_node, {}, {});
  REQUIRE(made);
  REQUIRE(made->devices_size() == 2);
  CHECK(made->devices(0).host_path() == "/dev/disk/one");
  CHECK(made->devices(0).container_path() == "/dev/xvda");
  CHECK(made->devices(0).permissions() == "mrw");
  CHECK(made->devices(1).permissions() == "r");
  CHECK(made->mounts_size() == 0);
}

TEST_CASE("SELinux options are the container's, or else the pod's", "[kubelet]") {
  Pod pod;
  auto& container = *pod.mutable_spec()->add_containers();
  const auto options = [&] {
    return container_request(first_container(pod), own_node, {}, {})
        .value()
        .linux()
        .security_context()
        .selinux_options();
  };
  CHECK_FALSE(sandbox_config_of(pod, 0, own_node).linux().security_context().has_selinux_options());
  auto& of_pod = *pod.mutable_spec()->mutable_security_context()->mutable_se_linux_options();
  of_pod.set_user("u");
  of_pod.set_role("r");
  of_pod.set_type("t");
  of_pod.set_level("s0:c1,c2");
  const auto sandbox =
      sandbox_config_of(pod, 0, own_node).linux().security_context().selinux_options();
  CHECK(sandbox.user() == "u");
  CHECK(sandbox.role() == "r");
  CHECK(sandbox.type() == "t");
  CHECK(sandbox.level() == "s0:c1,c2");
  CHECK(options().SerializeAsString() == sandbox.SerializeAsString());
  container.mutable_security_context()->mutable_se_linux_options()->set_level("s0:c3");
  CHECK(options().level() == "s0:c3");
  CHECK(options().user().empty());
}

}  // namespace troupe::actors
