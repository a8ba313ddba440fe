// The rules of in-place resize, without an actor.
#include "actors/kubelet/node/resize_rules.hpp"

#include <catch2/catch.hpp>

#include "actors/core/condition.hpp"
#include "actors/scheduler/builders.hpp"

namespace troupe::test {

using namespace actors;
using api::core::v1::Pod;
using api::core::v1::PodStatus;
using scheduler::make_node;
using scheduler::make_pod;
using scheduler::make_request;

namespace {

// One container "c" with these requests and a limit of 1 GiB.
api::object_ptr sized_pod(const std::string& cpu, const std::string& more = {}) {
  return make_pod("p", "{containers: [{name: c, " + more + "resources: {requests: {cpu: " + cpu +
                           ", memory: 64Mi}, limits: {memory: 1Gi}}}]}")
      ->pod;
}

std::string verdict(const api::object_ptr& pod, const scheduler::node_info& node,
                    std::string_view problem = {}) {
  const auto pending = evaluate_resize(pod->as<Pod>(), node, problem);
  return pending ? pending->reason + ": " + pending->message : "";
}

const PodStatus& described(PodStatus& status, const resize_progress& progress,
                           const std::vector<container_record>& records) {
  describe_resize(progress, records, runtime::wall_time{std::chrono::seconds{60}}, status);
  return status;
}

}  // namespace

TEST_CASE("a resize is possible, Deferred or Infeasible, with upstream's messages", "[kubelet]") {
  scheduler::cluster_view view;
  view.put_node(make_node("n", "{}", "{}", "2", "4Gi", "10"));
  view.put_pod(make_request("other", "1500m", "1Gi"), "n");
  const auto& node = *view.find("n");
  CHECK(verdict(sized_pod("500m"), node).empty());
  CHECK(verdict(sized_pod("600m"), node) ==
        "Deferred: Node didn't have enough resource: cpu, requested: 600, used: 1500, capacity: "
        "2000");
  CHECK(verdict(sized_pod("3"), node) ==
        "Infeasible: Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000");
  CHECK(verdict(sized_pod("500m"), node, "no control groups") ==
        "Infeasible: In-place resize is not supported here: no control groups");
  const auto vast =
      make_pod("p", "{containers: [{name: c, resources: {requests: {memory: 8Gi}}}]}");
  CHECK(verdict(vast->pod, node) ==
        "Infeasible: Node didn't have enough capacity: memory, requested: 8589934592, capacity: "
        "4294967296");
}

TEST_CASE("allocated resources are read from the status again", "[kubelet]") {
  auto pod = *sized_pod("200m")->copy_as<Pod>();
  pod.mutable_metadata()->set_generation(3);
  CHECK(same_amounts(recorded_allocation(pod).resources, desired_resources(pod)));

  auto& status = *pod.mutable_status()->add_container_statuses();
  status.set_name("c");
  (*status.mutable_allocated_resources())["cpu"].set_string("0.2");
  (*status.mutable_allocated_resources())["memory"].set_string("64Mi");
  auto& limits = *status.mutable_resources()->mutable_limits();
  limits["memory"].set_string("512Mi");
  const auto limit = [&] {
    return recorded_allocation(pod).resources.at("c").limits().at("memory").string();
  };
  // The requests equal the spec's, so the limits do too.
  CHECK(limit() == "1Gi");
  CHECK(same_amounts(recorded_allocation(pod).resources, desired_resources(pod)));
  SECTION("other requests are of another state of the pod") {
    (*status.mutable_allocated_resources())["cpu"].set_string("100m");
    CHECK(recorded_allocation(pod).resources.at("c").requests().at("cpu").string() == "100m");
    CHECK(limit() == "512Mi");
  }
  SECTION("so is what is pending") {
    auto& condition = *pod.mutable_status()->add_conditions();
    condition.set_type("PodResizePending");
    condition.set_reason("Infeasible");
    condition.set_observed_generation(3);
    CHECK(limit() == "512Mi");
    CHECK(recorded_allocation(pod).pending == pending_resize{"Infeasible", "", 3});
  }
}

TEST_CASE("a pod counts for the resources that it is given, whatever its status says",
          "[kubelet]") {
  auto pod = *sized_pod("200m")->copy_as<Pod>();
  auto& status = *pod.mutable_status()->add_container_statuses();
  status.set_name("c");
  (*status.mutable_resources()->mutable_requests())["cpu"].set_string("4");
  CHECK(scheduler::pod_requests(pod).milli_cpu == 4'000);
  CHECK(requests_with(pod, desired_resources(pod)).milli_cpu == 200);
}

TEST_CASE("a container restarts only for the resources that its policy names", "[kubelet]") {
  const auto small = sized_pod("100m"), large = sized_pod("200m");
  const auto resources = [](const api::object_ptr& pod) {
    return desired_resources(pod->as<Pod>()).at("c");
  };
  const auto restarts = [&](const std::string& policy) {
    const auto pod = sized_pod("100m", policy);
    return restarts_for(pod->as<Pod>().spec().containers(0), resources(small), resources(large));
  };
  CHECK_FALSE(restarts(""));
  CHECK(restarts("resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}], "));
  CHECK_FALSE(
      restarts("resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}, "
               "{resourceName: memory, restartPolicy: RestartContainer}], "));
}

TEST_CASE("the status shows allocated, actual and pending resources", "[kubelet]") {
  const auto small = sized_pod("100m"), large = sized_pod("200m");
  pod_allocation allocation{.resources = desired_resources(large->as<Pod>()), .generation = 2};
  PodStatus status;
  status.add_container_statuses()->set_name("c");
  std::vector<container_record> records{{.name = "c", .phase = container_phase::running}};
  records[0].resources = desired_resources(small->as<Pod>()).at("c");

  described(status, {allocation, true, {}}, records);
  CHECK(status.container_statuses(0).allocated_resources().at("cpu").string() == "200m");
  CHECK(status.container_statuses(0).resources().requests().at("cpu").string() == "100m");
  REQUIRE(status.conditions_size() == 1);
  CHECK(status.conditions(0).type() == "PodResizeInProgress");
  CHECK(status.conditions(0).observed_generation() == 2);
  CHECK(is_recorded(allocation, status));
  CHECK(was_in_progress(status));

  described(status, {allocation, true, "EBUSY"}, records);
  CHECK(status.conditions(0).reason() == "Error");
  CHECK(status.conditions(0).message() == "EBUSY");

  records[0].resources = allocation.resources.at("c");
  allocation.pending = {"Deferred", "no room", 3};
  described(status, {allocation, false, {}}, records);
  REQUIRE(status.conditions_size() == 1);
  CHECK(status.conditions(0).type() == "PodResizePending");
  CHECK(status.conditions(0).reason() == "Deferred");
  CHECK(status.conditions(0).observed_generation() == 3);
  CHECK(status.container_statuses(0).resources().requests().at("cpu").string() == "200m");

  allocation.pending.reset();
  CHECK(described(status, {allocation, false, {}}, records).conditions().empty());
}

}  // namespace troupe::test
