// A scheduler with several profiles in a simulated cluster.
#include <catch2/catch.hpp>

#include "actors/scheduler/configuration/configuration.hpp"
#include "api/schema/core_event.pb.h"
#include "support/nodes.hpp"
#include "support/seeds.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using api::core::v1::Event;
using api::core::v1::Node;
using api::core::v1::Pod;
using std::chrono::seconds;

namespace {

// The default profile prefers nodes with the most free resources, "packer" those with the least.
cluster_options two_profiles() {
  cluster_options options;
  options.plane.scheduler_profiles = actors::scheduler::parse_configuration(R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: packer
  plugins: {score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit}]}}
  pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]
)")
                                         ->profiles;
  return options;
}

Pod pod_of(const std::string& name, const std::string& scheduler) {
  auto pod = pod_named(name);
  auto& requests = *pod.mutable_spec()->mutable_containers(0)->mutable_resources();
  (*requests.mutable_requests())["cpu"].set_string("1");
  pod.mutable_spec()->set_scheduler_name(scheduler);
  return pod;
}

// So small that each pod changes the used percentage.
void add_small_node(cluster& c, const std::string& name) {
  add_node(c, name);
  c.change<Node>({}, name, [](Node& node) {
    (*node.mutable_status()->mutable_allocatable())["cpu"].set_string("10");
  });
}

std::string node_of(const cluster& c, const std::string& pod) {
  return c.get<Pod>("default", pod).spec().node_name();
}

}  // namespace

TEST_CASE("each pod is scheduled by the profile that it names, those of a stranger by none",
          "[scheduler][scheduler-config]") {
  cluster c{5, two_profiles()};
  for (const char* node : {"n1", "n2", "n3"})
    add_small_node(c, node);
  c.create(pod_of("seed", "packer"));
  REQUIRE(c.run_until([&] { return !node_of(c, "seed").empty(); }));
  for (int i = 0; i < 3; ++i)
    c.create(pod_of("packed" + std::to_string(i), "packer"));
  c.create(pod_of("foreign", "somebody-else"));
  REQUIRE(c.run_until([&] { return !node_of(c, "packed2").empty(); }));
  c.create(pod_of("spread", "default-scheduler"));
  c.create(pod_of("plain", ""));
  REQUIRE(
      c.run_until([&] { return !node_of(c, "spread").empty() && !node_of(c, "plain").empty(); }));
  for (int i = 0; i < 3; ++i)
    CHECK(node_of(c, "packed" + std::to_string(i)) == node_of(c, "seed"));
  CHECK(node_of(c, "spread") != node_of(c, "seed"));
  c.advance(seconds{600});
  CHECK(node_of(c, "foreign").empty());
  CHECK(c.get<Pod>("default", "foreign").status().conditions().empty());

  std::map<std::string, std::string> reported_by;  // by pod
  for (const auto& each : c.list<Event>())
    if (const auto& event = each->as<Event>(); event.reason() == "Scheduled")
      reported_by[event.involved_object().name()] = event.source().component();
  CHECK(reported_by["packed0"] == "packer");
  CHECK(reported_by["spread"] == "default-scheduler");
}

TEST_CASE("a scheduler of two profiles that is killed at any moment binds the pods of both",
          "[scheduler][scheduler-config]") {
  for_each_seed(20, [](std::uint64_t moment) {
    cluster c{moment, two_profiles()};
    for (const char* node : {"n0", "n1"})
      add_node(c, node);
    for (int i = 0; i < 8; ++i)
      c.create(pod_of("p" + std::to_string(i), i % 2 == 0 ? "packer" : "default-scheduler"));
    for (std::uint64_t i = 0; i < moment * 3; ++i)
      c.simulation().step();
    c.crash("scheduler", "default-scheduler");
    CHECK(c.run_until([&] {
      for (int i = 0; i < 8; ++i)
        if (node_of(c, "p" + std::to_string(i)).empty()) return false;
      return true;
    }));
  });
}

}  // namespace troupe::test
