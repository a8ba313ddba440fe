// Writes of pods/resize: the fields that they change, and refusals.
#include <catch2/catch.hpp>

#include "api/manifests.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/strategy.hpp"
#include "api/validation/validation.hpp"

using namespace troupe;
using namespace troupe::api;
using core::v1::Pod;
using test::created;

namespace {

using lines = std::vector<std::string>;

Pod pod_of(const std::string& spec) {
  return created<Pod>("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " + spec + "}");
}

const std::string burstable =
    "{containers: [{name: c, image: x, resources: {requests: {cpu: 100m, memory: 64Mi}, limits: "
    "{cpu: 200m, memory: 128Mi}}}, {name: d, image: x}]}";

core::v1::ResourceRequirements& resources(Pod& pod, int container = 0) {
  return *pod.mutable_spec()->mutable_containers(container)->mutable_resources();
}

void set_limit(Pod& pod, const char* name, const char* amount) {
  (*resources(pod).mutable_limits())[name].set_string(amount);
}
void set_request(Pod& pod, const char* name, const char* amount) {
  (*resources(pod).mutable_requests())[name].set_string(amount);
}

// "field: message" of each cause.
lines refusals(Pod now, const Pod& was) {
  prepare_pod_resize(now, was);
  lines made;
  for (const auto& cause : validate_pod_resize(now, was))
    made.push_back(cause.field + ": " + cause.message);
  return made;
}

}  // namespace

TEST_CASE("a resize changes cpu and memory, counts a generation and takes nothing else") {
  auto was = pod_of(burstable);
  was.mutable_metadata()->set_generation(3);
  auto now = was;
  set_request(now, "cpu", "150m");
  set_limit(now, "memory", "256Mi");
  now.mutable_spec()->mutable_containers(0)->set_image("y");
  (*now.mutable_metadata()->mutable_labels())["a"] = "b";
  now.mutable_status()->set_phase("Failed");
  CHECK(refusals(now, was) == lines{});
  prepare_pod_resize(now, was);
  CHECK(now.spec().containers(0).resources().requests().at("cpu").string() == "150m");
  CHECK(now.spec().containers(0).image() == "x");
  CHECK(now.metadata().labels().empty());
  CHECK(now.metadata().generation() == 4);
  CHECK(now.status().phase() == "Pending");
  auto same = was;
  prepare_pod_resize(same, was);
  CHECK(same.metadata().generation() == 3);
}

TEST_CASE("a plain update of a pod changes no resources") {
  const auto was = pod_of(burstable);
  auto now = was;
  set_request(now, "cpu", "150m");
  const auto causes = validate_update(kind_of<Pod>(), now, was);
  REQUIRE(causes.size() == 1);
  CHECK(causes[0].message.starts_with("Forbidden: pod updates may not change fields other than"));
}

TEST_CASE("a resize keeps the QoS class and removes no amount") {
  const auto was = pod_of(burstable);
  auto now = was;
  resources(now).mutable_requests()->erase("cpu");
  resources(now).mutable_limits()->erase("memory");
  CHECK(refusals(now, was) ==
        lines{"spec.containers[0].resources.requests: Forbidden: resource requests cannot be "
              "removed",
              "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed"});

  const auto whole = pod_of(
      "{containers: [{name: c, image: x, resources: {limits: {cpu: 200m, memory: 128Mi}}}]}");
  now = whole;
  set_request(now, "cpu", "100m");
  CHECK(refusals(now, whole) ==
        lines{"spec: Invalid value: \"Guaranteed\": Pod QOS Class may not change as a result of "
              "resizing"});
  set_limit(now, "cpu", "100m");
  CHECK(refusals(now, whole) == lines{});

  const auto none = pod_of("{containers: [{name: c, image: x}]}");
  now = none;
  set_request(now, "memory", "40Mi");
  CHECK(refusals(now, none).size() == 1);
}

TEST_CASE("a memory limit shrinks only where the container restarts for it") {
  auto was = pod_of(burstable);
  auto now = was;
  set_limit(now, "memory", "100Mi");
  CHECK(refusals(now, was) ==
        lines{"spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be "
              "decreased unless resizePolicy is RestartContainer"});
  auto& policy = *was.mutable_spec()->mutable_containers(0)->add_resize_policy();
  policy.set_resource_name("memory");
  policy.set_restart_policy("RestartContainer");
  CHECK(refusals(now, was) == lines{});
}

TEST_CASE("a resize is of cpu and memory alone, within the limits") {
  const auto was = pod_of(burstable);
  auto now = was;
  set_limit(now, "ephemeral-storage", "1Gi");
  CHECK(refusals(now, was) == lines{"spec: Forbidden: only cpu and memory resources are mutable"});
  now = was;
  set_request(now, "cpu", "500m");
  CHECK(refusals(now, was) ==
        lines{"spec.containers[0].resources.requests: Invalid value: \"500m\": must be less than "
              "or equal to cpu limit of 200m"});
}

TEST_CASE("a resize neither adds, removes nor reorders containers") {
  const auto was = pod_of(burstable);
  auto now = was;
  now.mutable_spec()->mutable_containers()->SwapElements(0, 1);
  const auto found = refusals(now, was);
  REQUIRE(found.size() == 2);
  CHECK(found[1] ==
        "spec.containers[1].name: Forbidden: containers may not be renamed or reordered on "
        "resize");
  now = was;
  now.mutable_spec()->mutable_containers()->RemoveLast();
  CHECK(refusals(now, was) ==
        lines{"spec.containers: Forbidden: containers may not be added or removed on resize"});
}

TEST_CASE("of the init containers only sidecars are resized") {
  const auto spec = [](const std::string& policy) {
    return "{initContainers: [{name: i, image: x" + policy +
           ", resources: {requests: {cpu: 10m}}}], containers: [{name: c, image: x}]}";
  };
  for (const std::string policy : {"", ", restartPolicy: Always"}) {
    const auto was = pod_of(spec(policy));
    auto now = was;
    auto& amounts = *now.mutable_spec()->mutable_init_containers(0)->mutable_resources();
    (*amounts.mutable_requests())["cpu"].set_string("20m");
    CHECK(refusals(now, was) ==
          (policy.empty() ? lines{"spec.initContainers[0].resources: Forbidden: resources for "
                                  "non-sidecar init containers are immutable"}
                          : lines{}));
  }
}

TEST_CASE("static pods, those of Windows and of nodes that cannot resize are refused") {
  auto was = pod_of(burstable);
  auto now = was;
  set_request(now, "cpu", "150m");
  was.mutable_status()->add_container_statuses()->mutable_state()->mutable_running();
  CHECK(refusals(now, was) ==
        lines{"spec: Forbidden: Pod running on node without support for resize"});
  was.mutable_status()->mutable_container_statuses(0)->mutable_resources();
  CHECK(refusals(now, was) == lines{});
  (*was.mutable_metadata()->mutable_annotations())["kubernetes.io/config.mirror"] = "1";
  CHECK(refusals(now, was) == lines{": Forbidden: static pods cannot be resized"});
  was.mutable_metadata()->clear_annotations();
  was.mutable_spec()->mutable_os()->set_name("windows");
  CHECK(refusals(now, was).back() == ": Forbidden: windows pods cannot be resized");
}

TEST_CASE("a resize policy names a resource once, and no restart where nothing restarts") {
  const auto pod = pod_of(
      "{restartPolicy: Never, containers: [{name: c, image: x, resizePolicy: [{resourceName: cpu, "
      "restartPolicy: NotRequired}, {resourceName: cpu, restartPolicy: RestartContainer}]}]}");
  lines found;
  for (const auto& cause : validate_create(kind_of<Pod>(), pod))
    found.push_back(cause.field + ": " + cause.message);
  CHECK(found ==
        lines{"spec.containers[0].resizePolicy[1]: Duplicate value: \"cpu\"",
              "spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be "
              "'NotRequired' when `restartPolicy` is 'Never'"});
}
