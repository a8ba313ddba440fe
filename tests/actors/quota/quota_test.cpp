// Quotas as seen by clients and controllers.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>
#include <vector>

#include "actors/quota/quota_ledger.hpp"
#include "actors/write/admission_fixture.hpp"
#include "actors/write/creation.hpp"
#include "actors/write/write_service.hpp"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_quota.pb.h"
#include "api/schema/core_replication.pb.h"

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::Event;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;
using api::core::v1::ResourceQuota;
namespace quota = actors::quota;
using namespace std::chrono_literals;

namespace {

ResourceQuota quota_of(std::map<std::string, std::string> hard) {
  ResourceQuota made;
  made.mutable_metadata()->set_name("bounds");
  made.mutable_metadata()->set_namespace_("default");
  for (const auto& [name, amount] : hard)
    (*made.mutable_spec()->mutable_hard())[name].set_string(amount);
  return made;
}

std::unique_ptr<Pod> pod_named(const std::string& name, const std::string& cpu = "100m") {
  auto pod = std::make_unique<Pod>(web_pod());
  pod->mutable_metadata()->set_name(name);
  auto& resources = *pod->mutable_spec()->mutable_containers(0)->mutable_resources();
  (*resources.mutable_requests())["cpu"].set_string(cpu);
  return pod;
}

std::string used(const cluster& c, const std::string& name) {
  const auto quota = c.get<ResourceQuota>("default", "bounds");
  const auto found = quota.status().used().find(name);
  return found == quota.status().used().end() ? "" : found->second.string();
}

}  // namespace

TEST_CASE("a quota refuses writes beyond its limits, and shows its usage", "[quota]") {
  cluster c{1, without_controllers()};
  c.plane().start_leading();
  REQUIRE(c.try_create(pod_named("before", "1")));
  c.create(quota_of({{"requests.cpu", "2"}, {"pods", "5"}}));
  REQUIRE(c.run_until([&] { return used(c, "requests.cpu") == "1"; }));
  CHECK(used(c, "pods") == "1");
  CHECK(c.get<ResourceQuota>("default", "bounds").status().hard().at("pods").string() == "5");

  REQUIRE(c.try_create(pod_named("fits", "600m")));
  const auto refused = c.try_create(pod_named("web", "500m"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 403);
  CHECK(refused.error().message ==
        "pods \"web\" is forbidden: exceeded quota: bounds, requested: requests.cpu=500m, used: "
        "requests.cpu=1600m, limited: requests.cpu=2");

  auto unnamed = std::make_unique<Pod>(web_pod());
  const auto silent = c.try_create(std::move(unnamed));
  REQUIRE_FALSE(silent);
  CHECK(silent.error().message ==
        "pods \"web\" is forbidden: failed quota: bounds: must specify requests.cpu for: c");

  c.remove<Pod>("default", "fits", 0);
  REQUIRE(c.try_create(pod_named("web", "500m")));
  REQUIRE(c.run_until([&] { return used(c, "requests.cpu") == "1500m"; }));
}

TEST_CASE("a pod that has ended makes room", "[quota]") {
  cluster c{1, without_controllers()};
  c.create(quota_of({{"pods", "1"}}));
  REQUIRE(c.try_create(pod_named("a")));
  REQUIRE_FALSE(c.try_create(pod_named("b")));
  c.change<Pod>("default", "a", [](Pod& pod) { pod.mutable_status()->set_phase("Succeeded"); });
  CHECK(c.try_create(pod_named("b")));
}

TEST_CASE("a controller that exceeds a quota reports it, and continues when there is room",
          "[quota]") {
  cluster c{1};
  c.create(quota_of({{"pods", "2"}}));
  ReplicationController rc;
  rc.mutable_metadata()->set_name("web");
  rc.mutable_spec()->set_replicas(5);
  (*rc.mutable_spec()->mutable_selector())["app"] = "web";
  auto& pods = *rc.mutable_spec()->mutable_template_();
  (*pods.mutable_metadata()->mutable_labels())["app"] = "web";
  *pods.mutable_spec() = web_pod().spec();
  c.create(rc);
  REQUIRE(c.run_until([&] {
    const auto events = c.list<Event>("default");
    return std::any_of(events.begin(), events.end(), [](const auto& each) {
      const auto& event = each->template as<Event>();
      return event.reason() == "FailedCreate" &&
             event.message().find(
                 "exceeded quota: bounds, requested: pods=1, used: pods=2, "
                 "limited: pods=2") != std::string::npos;
    });
  }));
  CHECK(c.count<Pod>("default") == 2);
  c.change<ResourceQuota>("default", "bounds", [](ResourceQuota& quota) {
    (*quota.mutable_spec()->mutable_hard())["pods"].set_string("5");
  });
  CHECK(c.run_until([&] { return c.count<Pod>("default") == 5; }, 10min));
}

TEST_CASE("the used amounts of a quota equal a count, whatever happens", "[quota]") {
  cluster c{7, without_controllers()};
  std::mt19937_64 random{7};
  const auto draw = [&](int below) { return static_cast<int>(random() % below); };
  c.plane().start_leading();
  c.create(quota_of({{"pods", "6"}, {"requests.cpu", "1"}, {"count/configmaps", "4"}}));
  for (int step = 0; step < 400; ++step) {
    const auto name = "o" + std::to_string(draw(8));
    switch (draw(6)) {
      case 0:
      case 1:
        static_cast<void>(c.try_create(pod_named(name, std::to_string(50 * draw(8)) + "m")));
        break;
      case 2:
        if (c.find<Pod>("default", name)) c.remove<Pod>("default", name, 0);
        break;
      case 3:
        static_cast<void>(c.try_create(config_map(name)));
        break;
      case 4:
        if (c.find<ConfigMap>("default", name)) c.remove<ConfigMap>("default", name);
        break;
      case 5:
        c.change<ResourceQuota>("default", "bounds", [&](ResourceQuota& quota) {
          (*quota.mutable_spec()->mutable_hard())["pods"].set_string(std::to_string(draw(8)));
        });
        break;
    }
  }
  c.settle();
  c.advance(1s);
  c.settle();
  // Counted independently.
  std::size_t pods = 0;
  api::quantity cpu;
  for (const auto& each : c.list<Pod>("default")) {
    ++pods;
    const auto& requests = each->as<Pod>().spec().containers(0).resources().requests();
    cpu += *api::quantity::parse(requests.at("cpu").string());
  }
  CHECK(used(c, "pods") == std::to_string(pods));
  CHECK(used(c, "requests.cpu") == cpu.str());
  CHECK(used(c, "count/configmaps") == std::to_string(c.count<ConfigMap>("default")));
  CHECK(cpu <= api::quantity::of(1));
  CHECK(c.count<ConfigMap>("default") <= 4 + 1);  // certificates of the cluster existed before
}

TEST_CASE("many clients at once use all of a quota and no more", "[quota]") {
  cluster c{1, without_controllers()};
  auto& store = c.store();
  auto ledger = std::make_shared<quota::quota_ledger>(store);
  store.observe([](auto, const auto&) {},
                {.load = [&](const auto& state) { ledger->load(state); },
                 .take = [&](const auto& changes) { ledger->take(changes); }});
  actors::write_service writes{store, c.simulation().system().time(), {.quotas = ledger}};
  c.create(quota_of({{"pods", "100"}}));
  std::atomic<int> created{0}, refused{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < 8; ++client)
    clients.emplace_back([&, client] {
      for (int i = 0; i < 40; ++i)
        writes.carry_out(
            {.propose =
                 [name = "p" + std::to_string(client) + "-" + std::to_string(i)](const auto&) {
                   actors::proposal made{.kind = &api::kind_of<Pod>(), .after = pod_named(name)};
                   return api::expected<actors::proposal>{std::move(made)};
                 },
             .done = [&](auto outcome) { ++(outcome.result ? created : refused); },
             .by = actors::admission::controllers()});
    });
  for (auto& each : clients)
    each.join();
  REQUIRE(c.run_until([&] { return created + refused == 320; }));
  CHECK(created == 100);
  CHECK(store.read().count(api::kind_of<Pod>().prefix("default")) == 100);
}

}  // namespace troupe::test
