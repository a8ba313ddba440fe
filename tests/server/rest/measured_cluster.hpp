// A cluster over HTTP whose node "here" measures its own and its containers' usage.
#pragma once

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/kubelet/usage/usage_meter.hpp"
#include "server/fixtures/rest_fixture.hpp"

namespace troupe::server::testing {

// The uids of pods whose containers are called "c" and use half a processor and 2 MiB each.
using measured_pods = std::vector<std::string>;

inline constexpr actors::node_supplies measured_supplies{
    .memory = {3ll << 30, 4ll << 30}, .disk = {60, 100}, .inodes = {6, 10}, .pids = {900, 1'000}};

// A machine that uses two processors and 1 GiB.
inline runtime::actor_ref spawn_meter(runtime::actor_system& system, const std::string& node,
                                      std::shared_ptr<const measured_pods> running) {
  const auto read = [running](const std::function<void(actors::usage_reading)>& done) {
    const auto at = actors::machine_now();
    const auto since_start = static_cast<std::uint64_t>(at.count());
    actors::usage_reading reading{.machine = actors::usage_counters{at, since_start * 2, 1u << 30},
                                  .supplies = measured_supplies};
    for (const auto& uid : *running)
      reading.containers.push_back({.pod_uid = uid,
                                    .container = "c",
                                    .id = "x://" + uid,
                                    .counters = {at, since_start / 2, 2u << 20}});
    done(std::move(reading));
  };
  return system.spawn({.kind = actors::usage_meter_kind, .name = node},
                      runtime::make<actors::usage_meter>(actors::usage_reader{read}));
}

// The node "here" with its meter, and as many nodes without a meter as a test needs.
struct measured_cluster {
  measured_cluster() {
    add_node("here", R"("labels":{"zone":"a"})");
    spawn_meter(server.plane().system(), "here", running);
  }
  void add_node(const std::string& name, const std::string& meta = R"("labels":{})") {
    const auto made =
        server.post("/api/v1/nodes", fmt::format(R"({{"kind":"Node","apiVersion":"v1",)"
                                                 R"("metadata":{{"name":"{}",{}}}}})",
                                                 name, meta));
    REQUIRE(made.status == 201);
  }
  // Returns the uid.
  std::string add_pod(const std::string& name, const std::string& node = "here",
                      const std::string& labels = R"({"app":"web"})",
                      const std::string& phase = "Running", const std::string& ns = "default") {
    const auto uid = server.create_pod(name, labels, ns).at("metadata.uid");
    const auto path = "/api/v1/namespaces/" + ns + "/pods/" + name;
    server.post(path + "/binding",
                fmt::format(R"({{"target":{{"kind":"Node","name":"{}"}}}})", node));
    const auto done = server.request("PATCH", path + "/status",
                                     fmt::format(R"({{"status":{{"phase":"{}"}}}})", phase),
                                     {{"content-type", "application/merge-patch+json"}});
    REQUIRE(done.status == 200);
    return uid;
  }
  void run_pod(const std::string& name, const std::string& labels = R"({"app":"web"})",
               const std::string& ns = "default") {
    running->push_back(add_pod(name, "here", labels, "Running", ns));
  }
  std::vector<std::string> names(const std::string& path) {
    const auto list = server.get(path);
    REQUIRE(list.status == 200);
    std::vector<std::string> all;
    for (std::size_t i = 0; i < list.size("items"); ++i)
      all.push_back(list.at(fmt::format("items.{}.metadata.name", i)));
    return all;
  }

  rest_test server;
  const std::shared_ptr<measured_pods> running = std::make_shared<measured_pods>();
};

}  // namespace troupe::server::testing
