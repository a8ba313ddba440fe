// Usage of pods on simulated nodes, from their annotations.
#include "actors/usage/simulated_usage.hpp"

#include <catch2/catch.hpp>

#include "actors/core/condition.hpp"
#include "actors/simulation/amount_over_time.hpp"
#include "support/nodes.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::amount_over_time;
using api::apps::v1::ReplicaSet;
using api::core::v1::Pod;

namespace {

std::string at(const char* text, std::int64_t seconds) {
  const auto amount = amount_over_time::parse(text);
  return amount ? amount->at(seconds).str() : "nothing";
}

void annotate(api::meta::v1::ObjectMeta& meta, const std::string& name, const std::string& value) {
  (*meta.mutable_annotations())["simulation.troupe.dev/" + name] = value;
}

// Running and ready on a node, from now on.
void run(cluster& c, const std::string& name) {
  c.change<Pod>("default", name, [&](Pod& pod) {
    pod.mutable_spec()->set_node_name("n1");
    pod.mutable_status()->set_phase("Running");
    pod.mutable_status()->mutable_start_time()->set_seconds(actors::seconds_of(c.now()));
    actors::set_condition(*pod.mutable_status()->mutable_conditions(), {"Ready", "True"}, c.now());
  });
}

}  // namespace

TEST_CASE("a simulated amount is a quantity, or one for each time", "[usage]") {
  CHECK(at("250m", 0) == "250m");
  CHECK(at("0s=1,10m=4,30m=500m", 599) == "1");
  CHECK(at("0s=1,10m=4,30m=500m", 600) == "4");
  CHECK(at("0s=1,10m=4,30m=500m", 99999) == "500m");
  CHECK(at("10m=4", 0) == "0");
  for (const char* text : {"", "x", "1,", "1=2", "-1s=2", "1m=", ",1", "1m=1,x=2"}) {
    INFO(text);
    CHECK(at(text, 0) == (std::string{text} == "1," ? "1" : "nothing"));
  }
}

TEST_CASE("the accumulated usage of a simulated amount grows with its steps", "[usage]") {
  const auto total = [](const char* text, std::int64_t seconds) {
    return amount_over_time::parse(text).value().total_ns(seconds);
  };
  CHECK(total("250m", 8) == 2'000'000'000);
  CHECK(total("0s=1,10s=4,30s=500m", 10) == 10'000'000'000);
  CHECK(total("0s=1,10s=4,30s=500m", 34) == 92'000'000'000);
  CHECK(total("10s=4", 9) == 0);
  CHECK(total("1", -5) == 0);
}

TEST_CASE("the pods of a controller share its load, and each has its own use besides", "[usage]") {
  cluster_options options;
  options.plane.controllers = false;
  cluster c{1, options};
  auto set = replica_set("web", 2, {{"app", "web"}});
  annotate(*set.mutable_metadata(), "cpu-load", "3");
  const auto owner = c.create(set);
  for (const char* name : {"a", "b"}) {
    auto pod = pod_named(name);
    annotate(*pod.mutable_metadata(), "memory", "10Mi");
    if (name[0] == 'b') {
      auto& limits =
          *pod.mutable_spec()->mutable_containers(0)->mutable_resources()->mutable_limits();
      limits["cpu"].set_string("1");
    }
    auto& reference = *pod.mutable_metadata()->add_owner_references();
    reference.set_api_version("apps/v1");
    reference.set_kind("ReplicaSet");
    reference.set_name("web");
    reference.set_uid(owner->meta().uid());
    reference.set_controller(true);
    c.create(pod);
  }
  c.create(pod_named("plain"));
  run(c, "a");
  run(c, "plain");
  auto usage = actors::simulated_usage(c.store().read(), {"n1"}, c.now());
  REQUIRE(usage["n1"].containers.size() == 1);
  CHECK(usage["n1"].containers[0].figure.cpu_nano == 3'000'000'000);
  CHECK(usage["n1"].containers[0].figure.memory_bytes == 10u << 20);
  run(c, "b");
  usage = actors::simulated_usage(c.store().read(), {"n1", "n2"}, c.now());
  CHECK_FALSE(usage.contains("n2"));
  REQUIRE(usage["n1"].containers.size() == 2);
  CHECK(usage["n1"].containers[0].figure.cpu_nano == 1'500'000'000);
  // Usage is capped at the limit.
  CHECK(usage["n1"].containers[1].figure.cpu_nano == 1'000'000'000);
  CHECK(usage["n1"].machine->cpu_nano == 2'500'000'000);
}

}  // namespace troupe::test
