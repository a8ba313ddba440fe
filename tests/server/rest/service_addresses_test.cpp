// Cluster addresses and node ports: each allocated only once, to concurrent clients.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const std::string services = "/api/v1/namespaces/default/services";
const std::string keys = "/registry/serviceallocations/";
constexpr int clients = 32;

// A node port is set in `ports` or allocated by the server.
std::string service_json(const std::string& name, const std::string& extra = {},
                         const std::string& ports = R"({"port":80})") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{{}"selector":{{"a":"b"}},"ports":[{}]}}}})", name,
      extra, ports);
}

// Creates `count` services by 32 concurrent clients; returns how many did not get 201.
int create_together(rest_test& server, int count, const std::string& extra) {
  std::atomic<int> refused{0}, next{0};
  std::vector<std::thread> all;
  for (int c = 0; c < clients; ++c)
    all.emplace_back([&] {
      test::http_client client{server.where()};
      for (int i = next++; i < count; i = next++)
        refused += client
                       .request("POST", services, service_json(fmt::format("s{}", i), extra),
                                {{"content-type", "application/json"}})
                       .status != 201;
    });
  for (auto& each : all)
    each.join();
  return refused;
}

// Allocates all node ports except `left`, a hundred a Service.
void fill_ports(rest_test& server, int left) {
  for (int port = 30'000; port <= 32'767 - left;) {
    std::string ports;
    const auto name = fmt::format("many-{}", port);
    for (int i = 0; i < 100 && port <= 32'767 - left; ++i, ++port)
      ports += fmt::format(R"({}{{"name":"p{}","port":{},"nodePort":{}}})", i > 0 ? "," : "", i,
                           i + 1, port);
    const auto made = server.post(services, service_json(name, R"("type":"NodePort",)", ports));
    INFO(made.text());
    REQUIRE(made.status == 201);
  }
}

}  // namespace

TEST_CASE("2000 services by 32 clients at once: none is refused, no number is given twice") {
  rest_test server;
  CHECK(create_together(server, 2'000, R"("type":"NodePort",)") == 0);
  std::set<std::string> addresses, ports;
  server.store().read().scan("/registry/services/", {}, [&](std::string_view, const auto& found) {
    const json_text service{found->json()};
    addresses.insert(service.at("spec.clusterIP"));
    ports.insert(service.at("spec.ports.0.nodePort"));
    return true;
  });
  CHECK(addresses.size() == 2'000);
  CHECK(ports.size() == 2'000);
  CHECK(server.store().read().count(keys) == 4'000);
  CHECK(server.remove(services).status == 200);
  CHECK(server.store().read().count(keys) == 0);
}

TEST_CASE("the last node ports go to as many clients as there are ports") {
  rest_test server;
  fill_ports(server, 10);
  CHECK(create_together(server, 10, R"("type":"NodePort",)") == 0);
  const auto refused = server.post(services, service_json("late", R"("type":"NodePort",)"));
  CHECK(refused.status == 500);
  CHECK_THAT(refused.at("message"), Catch::Contains("failed to allocate"));
  REQUIRE(server.remove(services + "/s3").status == 200);
  CHECK(server.post(services, service_json("late", R"("type":"NodePort",)")).status == 201);
}

TEST_CASE("numbers are free again when a type changes, and when it was only tried") {
  rest_test server;
  const auto count = [&] { return server.store().read().count(keys); };
  const std::string port = R"({"port":80,"nodePort":30080})";
  CHECK(server.post(services + "?dryRun=All", service_json("a", R"("type":"NodePort",)", port))
            .status == 201);
  CHECK(count() == 0);
  REQUIRE(server.post(services, service_json("a", R"("type":"NodePort",)", port)).status == 201);
  CHECK(count() == 2);
  REQUIRE(server.patch(services + "/a", "merge", R"({"spec":{"type":"ClusterIP"}})").status == 200);
  CHECK(count() == 1);
  REQUIRE(server.post(services, service_json("b", R"("type":"NodePort",)", port)).status == 201);
  CHECK(count() == 3);
  REQUIRE(server
              .patch(services + "/a", "merge",
                     R"({"spec":{"type":"ExternalName","externalName":"x.org"}})")
              .status == 200);
  CHECK(count() == 2);
}

TEST_CASE("allocation keys are not readable by clients, and exist for older services") {
  rest_test server;
  REQUIRE(server.post(services, service_json("a", R"("clusterIP":"10.96.0.77",)")).status == 201);
  const auto groups = server.get("/apis");
  CHECK_THAT(groups.text(), !Catch::Contains("internal.troupe"));
  CHECK(server.get("/apis/internal.troupe/v1/serviceallocations").status == 404);
  // As in a store from before these keys existed.
  persistence::transaction forget;
  forget.mutations.push_back({keys + "10.96.0.77", nullptr, nullptr});
  server.store().submit(std::move(forget), [](const persistence::outcome&) {});
  CHECK(rest_test::eventually([&] { return server.store().read().count(keys) == 0; }));
  REQUIRE(server.api().create_system_objects());
  CHECK(server.store().read().count(keys) == 1);
  const auto taken = server.post(services, service_json("b", R"("clusterIP":"10.96.0.77",)"));
  CHECK(taken.status == 422);
  CHECK_THAT(taken.at("message"), Catch::Contains("provided IP is already allocated"));
}

TEST_CASE("a client learns the limit that its pod would exceed") {
  rest_test server{{.capacity = {.pods = 2}}};
  server.create_pods(2);
  const auto third = server.post("/api/v1/namespaces/default/pods", pod_json("third"));
  CHECK(third.status == 403);
  CHECK(third.at("reason") == "Forbidden");
  CHECK(third.at("message") ==
        "pods \"third\" is forbidden: exceeded quota: cluster, used: pods=2, limited: pods=2: "
        "delete what is not needed, add nodes, or raise the setting cluster.maxPods");
  REQUIRE(server.remove("/api/v1/namespaces/default/pods/p000").status == 200);
  CHECK(server.post("/api/v1/namespaces/default/pods", pod_json("third")).status == 201);
}
