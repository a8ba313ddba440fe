// Replica counts from metrics of other servers, and the requests to these servers.
#include <catch2/catch.hpp>

#include "actors/controllers/autoscaling/metric_proposals.hpp"
#include "actors/controllers/autoscaling/metric_queries.hpp"
#include "actors/controllers/autoscaling/value_count.hpp"
#include "autoscaling_fixture.hpp"

namespace troupe::test {

using namespace actors::autoscaling;
using actors::metric_query;
using actors::metric_value;
using api::autoscaling::v2::MetricSpec;

namespace {

constexpr tolerances usual{0.1, 0.1};

std::vector<measured_pod> ready_pods(int count) {
  std::vector<measured_pod> pods;
  for (int i = 0; i < count; ++i)
    pods.push_back(measured_pod_of("p" + std::to_string(i), 10));
  return pods;
}

MetricSpec of_ingress(bool average) {
  MetricSpec metric;
  metric.set_type("Object");
  auto& object = *metric.mutable_object();
  object.mutable_metric()->set_name("hits");
  object.mutable_described_object()->set_kind("Ingress");
  object.mutable_described_object()->set_api_version("networking.k8s.io/v1");
  object.mutable_described_object()->set_name("main");
  auto& target = *object.mutable_target();
  target.set_type(average ? "AverageValue" : "Value");
  (average ? target.mutable_average_value() : target.mutable_value())->set_string("10");
  return metric;
}

MetricSpec of_pods() {
  MetricSpec metric;
  metric.set_type("Pods");
  metric.mutable_pods()->mutable_metric()->set_name("hits");
  metric.mutable_pods()->mutable_target()->set_type("AverageValue");
  metric.mutable_pods()->mutable_target()->mutable_average_value()->set_string("10");
  return metric;
}

}  // namespace

TEST_CASE("a value for all pods counts the ready ones, and is left alone near its target",
          "[autoscaling]") {
  auto pods = ready_pods(3);
  CHECK(replicas_for_value({20'000, 10'000, usual}, 3, pods) == 6);
  CHECK(replicas_for_value({10'900, 10'000, usual}, 3, pods) == 3);
  CHECK(replicas_for_value({2'000, 10'000, usual}, 3, pods) == 1);
  pods[0] = but(
      pods[0], [](auto& pod) { pod.mutable_status()->mutable_conditions(0)->set_status("False"); });
  CHECK(replicas_for_value({20'000, 10'000, usual}, 3, pods) == 4);
  // With no pods only the value counts.
  CHECK(replicas_for_value({25'000, 10'000, usual}, 0, {}) == 3);
  CHECK(replicas_for_value({20'000, 10'000, usual}, 3, {}).error() ==
        "unable to calculate ready pods: no pods returned by selector while calculating replica "
        "count");
}

TEST_CASE("a value shared by the pods sets the number of pods", "[autoscaling]") {
  CHECK(replicas_for_share({35'000, 5'000, usual}, 1).replicas == 7);
  CHECK(replicas_for_share({35'000, 5'000, usual}, 1).average_milli == 35'000);
  CHECK(replicas_for_share({36'000, 5'000, usual}, 7).replicas == 7);
  CHECK(replicas_for_share({36'000, 5'000, usual}, 7).average_milli == 5'143);
  CHECK(replicas_for_share({9'000, 5'000, usual}, 7).replicas == 2);
  CHECK(replicas_for_share({12'000, 5'000, usual}, 0).replicas == 3);
  CHECK(replicas_for_share({0, 5'000, usual}, 7).replicas == 0);
}

TEST_CASE("pod metrics count like the pods' own usage, for running pods only", "[autoscaling]") {
  auto pods = ready_pods(3);
  const auto value = [](const std::string& pod, std::int64_t milli) {
    return metric_value{.object = pod, .milli = milli, .at = some_time, .window = 60};
  };
  const auto count = [&](const std::vector<metric_value>& values) {
    return replicas_for_pod_values(values, usual, 10'000, 3, pods, some_time);
  };
  CHECK(count({value("p0", 20'000), value("p1", 20'000), value("p2", 20'000)})->replicas == 6);
  // When scaling up, a missing pod is assumed to use nothing.
  CHECK(count({value("p0", 20'000), value("p1", 20'000)})->replicas == 4);
  pods[2] = but(pods[2], [](auto& pod) { pod.mutable_status()->set_phase("Pending"); });
  CHECK(count({value("p2", 20'000)}).error() ==
        "did not receive metrics for targeted pods (pods might be unready)");
}

TEST_CASE("a proposal by metrics of other servers is named and shown as upstream's",
          "[autoscaling]") {
  const auto pods = ready_pods(2);
  const auto autoscaler = autoscaler_of_web(50);
  const auto propose = [&](const MetricSpec& metric, actors::metric_values reading) {
    return propose_replicas(autoscaler, metric,
                            {.pods = pods,
                             .reading = std::move(reading),
                             .current = 2,
                             .existing = 2,
                             .now_seconds = some_time});
  };
  const actors::metric_values forty =
      std::vector<metric_value>{{.object = "main", .milli = 40'000}};
  const auto value = propose(of_ingress(false), forty);
  REQUIRE(value);
  CHECK(value->replicas == 8);
  CHECK(value->name == "Ingress metric hits");
  CHECK(value->status.object().current().value().string() == "40");
  CHECK(value->status.object().described_object().name() == "main");
  const auto average = propose(of_ingress(true), forty);
  REQUIRE(average);
  CHECK(average->replicas == 4);
  CHECK(average->status.object().current().average_value().string() == "20");
  const auto by_pods = propose(
      of_pods(),
      std::vector<metric_value>{{.object = "p0", .milli = 40'000}, {.object = "p1", .milli = 0}});
  REQUIRE(by_pods);
  CHECK(by_pods->replicas == 4);
  CHECK(by_pods->name == "pods metric hits");
  CHECK(by_pods->status.pods().current().average_value().string() == "20");
  const auto failed = propose(of_ingress(true), tl::make_unexpected(std::string{"no such thing"}));
  REQUIRE_FALSE(failed);
  CHECK(failed.error().reason == "FailedGetObjectMetric");
  CHECK(failed.error().problem ==
        "unable to get metric hits: Ingress on default main/unable to fetch metrics from custom "
        "metrics API: no such thing");
  CHECK(propose(of_pods(), tl::make_unexpected(std::string{})).error().message ==
        "failed to get pods metric value: unable to get metric hits: unable to fetch metrics from "
        "custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered");
}

TEST_CASE("an object metric is queried by its resource, for known kinds only", "[autoscaling]") {
  const auto asked = query_for(of_ingress(false), "default", "app=web");
  REQUIRE(asked);
  CHECK(asked->resource == "ingresses.networking.k8s.io");
  CHECK(asked->object == "main");
  CHECK(asked->namespaced);
  auto other = of_ingress(false);
  other.mutable_object()->mutable_described_object()->set_kind("Gate");
  CHECK(query_for(other, "default", "app=web").error() ==
        "no matches for kind \"Gate\" in group \"networking.k8s.io\"");
  auto node = of_ingress(false);
  node.mutable_object()->mutable_described_object()->set_kind("Node");
  node.mutable_object()->mutable_described_object()->set_api_version("v1");
  CHECK_FALSE(query_for(node, "default", {})->namespaced);
  CHECK(query_for(node, "default", {})->resource == "nodes");
}

}  // namespace troupe::test
