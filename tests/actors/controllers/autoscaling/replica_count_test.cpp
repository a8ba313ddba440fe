// The replica count for a resource metric.
#include <catch2/catch.hpp>

#include "autoscaling_fixture.hpp"

namespace troupe::test {

using actors::autoscaling::measured_pod;
using actors::autoscaling::replica_proposal;
using actors::autoscaling::replicas_for_average;
using actors::autoscaling::replicas_for_utilization;
using actors::autoscaling::resource_metric;
using api::core::v1::Pod;

namespace {

const resource_metric cpu{"cpu", "", {0.1, 0.1}};

std::vector<measured_pod> pods(std::initializer_list<int> milli) {
  std::vector<measured_pod> all;
  for (const int each : milli)
    all.push_back(measured_pod_of("p" + std::to_string(all.size()), each));
  return all;
}

replica_proposal at_percent(int target, const std::vector<measured_pod>& all) {
  const auto made =
      replicas_for_utilization(cpu, target, static_cast<int>(all.size()), all, some_time);
  INFO((made ? "" : made.error()));
  REQUIRE(made);
  return *made;
}

std::string problem(const resource_metric& metric, const std::vector<measured_pod>& all) {
  const auto made = replicas_for_utilization(metric, 50, 1, all, some_time);
  REQUIRE_FALSE(made);
  return made.error();
}

}  // namespace

TEST_CASE("a utilization asks for as many pods as bring it to its target", "[autoscaling]") {
  const auto up = at_percent(30, pods({30, 50, 100}));
  CHECK(up.replicas == 6);
  CHECK(up.utilization == 60);
  CHECK(up.average_milli == 60);
  CHECK(at_percent(50, pods({10, 10, 10, 10})).replicas == 1);
  CHECK(at_percent(50, pods({54, 54})).replicas == 2);  // within the tolerance
  CHECK(at_percent(50, pods({56, 56})).replicas == 3);
}

TEST_CASE("an average value asks for as many pods as share the usage by it", "[autoscaling]") {
  const auto made = replicas_for_average(cpu, 40, 2, pods({80, 60}), some_time);
  REQUIRE(made);
  CHECK(made->replicas == 4);
  CHECK(made->average_milli == 70);
  const resource_metric memory{"memory", "", {0.1, 0.1}};
  const auto half = std::int64_t{1000} << 19;  // each uses 1 MiB
  CHECK(replicas_for_average(memory, half, 2, pods({1, 1}), some_time)->replicas == 4);
}

TEST_CASE("pods without figures make a change smaller and never turn it", "[autoscaling]") {
  // When scaling up they count as 0: 300 of 3 becomes 300 of 4.
  CHECK(at_percent(50, pods({100, 100, 100, -1})).replicas == 6);
  CHECK(at_percent(50, pods({100, -1})).replicas == 2);
  // When scaling down they count as their whole request.
  CHECK(at_percent(50, pods({10, 10, 10, -1})).replicas == 3);
  CHECK(at_percent(50, pods({10, -1})).replicas == 2);
}

TEST_CASE("pods that are not ready count for nothing on the way up", "[autoscaling]") {
  const auto not_ready = [](Pod& pod) {
    pod.mutable_status()->mutable_start_time()->set_seconds(some_time - 60);
    actors::set_condition(*pod.mutable_status()->mutable_conditions(), {"Ready", "False"},
                          runtime::wall_time{std::chrono::seconds{some_time - 60}});
  };
  auto all = pods({100, 100, 100});
  all[2] = but(all[2], not_ready);
  CHECK(at_percent(50, all).replicas == 4);
  auto pending = pods({100, 100, -1});
  pending[2] = but(pending[2], [](Pod& pod) { pod.mutable_status()->set_phase("Pending"); });
  CHECK(at_percent(50, pending).replicas == 4);
  // When scaling down they are left out.
  auto down = pods({10, 10, 10});
  down[2] = but(down[2], not_ready);
  CHECK(at_percent(50, down).replicas == 1);
}

TEST_CASE("a figure from before a young pod was ready does not count", "[autoscaling]") {
  auto all = pods({100, 1000});
  all[1] = but(all[1], [](Pod& pod) {
    pod.mutable_status()->mutable_start_time()->set_seconds(some_time - 20);
    pod.mutable_status()->mutable_conditions(0)->mutable_last_transition_time()->set_seconds(
        some_time - 10);
  });
  CHECK(at_percent(100, all).replicas == 2);
  all[1] = but(all[1], [](Pod& pod) {
    pod.mutable_status()->mutable_conditions(0)->mutable_last_transition_time()->set_seconds(
        some_time - 15);
  });
  CHECK(at_percent(100, all).replicas == 11);
}

TEST_CASE("pods that end or have failed are left out", "[autoscaling]") {
  auto all = pods({100, 100, 100, 100});
  all[2] = but(all[2], [](Pod& pod) { pod.mutable_status()->set_phase("Failed"); });
  all[3] = but(all[3], [](Pod& pod) {
    pod.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(some_time);
  });
  CHECK(at_percent(50, all).replicas == 4);
}

TEST_CASE("the reason why a metric cannot be used is reported in upstream's words",
          "[autoscaling]") {
  CHECK(problem(cpu, pods({-1})) ==
        "unable to get metrics for resource cpu: no metrics returned from resource metrics API");
  auto all = pods({100});
  all[0] = but(all[0], [](Pod& pod) {
    pod.mutable_spec()->mutable_containers(0)->mutable_resources()->clear_requests();
  });
  const auto container = all[0].object->as<Pod>().spec().containers(0).name();
  CHECK(problem(cpu, all) == "missing request for cpu in container " + container + " of Pod p0");
  CHECK(problem({"cpu", "other", {0.1, 0.1}}, all) ==
        "unable to get metrics for resource cpu: failed to get container metrics: container other "
        "not present in metrics for pod default/p0");
  all[0] = but(all[0], [](Pod& pod) { pod.mutable_status()->set_phase("Pending"); });
  CHECK(problem(cpu, all) == "did not receive metrics for targeted pods (pods might be unready)");
}

}  // namespace troupe::test
