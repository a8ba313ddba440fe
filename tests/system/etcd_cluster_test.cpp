// Two control planes over one etcd: one shows the acknowledged writes of the other, and when the
// leader is killed the other one leads.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

#include "etcd/etcd_server.hpp"
#include "support/http_client.hpp"
#include "support/programs/eventually.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/node.hpp"

using namespace troupe::test;
namespace fs = std::filesystem;

namespace {

const http_client::fields json{{"content-type", "application/json"}};
const http_client::fields merge{{"content-type", "application/merge-patch+json"}};
const std::string maps = "/api/v1/namespaces/default/configmaps";
const std::string sets = "/apis/apps/v1/namespaces/default/replicasets";

std::unique_ptr<node> start(const fs::path& data, const std::string& name,
                            const etcd_server& etcd) {
  return std::make_unique<node>(
      data, std::vector<std::string>{"--node-name", name, "--store", "etcd", "--etcd-endpoints",
                                     etcd.endpoint(), "--etcd-leader-lease", "2s", "--log-level",
                                     "info"});
}

std::string set_json(const std::string& name) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}"}},"spec":{{"replicas":3,"selector":{{"matchLabels":{{"a":"{0}"}}}},)"
      R"("template":{{"metadata":{{"labels":{{"a":"{0}"}}}},"spec":{{"containers":[)"
      R"({{"name":"c","image":"none","command":["sleep","1000"]}}]}}}}}}}})",
      name);
}

// The token of a page for the next one, escaped for a query.
std::string token_of(const std::string& page) {
  const std::string label = "\"continue\":\"";
  const auto begin = page.find(label);
  if (begin == page.npos) return {};
  std::string escaped;
  for (auto at = begin + label.size(); page[at] != '"'; ++at)
    escaped += page[at] == '+' ? "%2B" : std::string{page[at]};
  return escaped;
}

bool has_replicas(http_client& of, const std::string& name, int count) {
  const auto found = of.request("GET", sets + "/" + name);
  return found.body.find(fmt::format("\"replicas\":{},", count)) != std::string::npos &&
         found.body.find("\"fullyLabeledReplicas\":3") != std::string::npos;
}

}  // namespace

TEST_CASE("two control planes over etcd: any may be killed, and nothing is lost", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const scratch_folder folder;
  const etcd_server etcd;
  const auto first_data = folder.path() / "first", second_data = folder.path() / "second";
  auto first = start(first_data, "first", etcd);
  // One authority for both, as `troupe join --control-plane` would provide.
  fs::create_directories(second_data);
  fs::copy(first_data / "pki", second_data / "pki", fs::copy_options::recursive);
  auto second = start(second_data, "second", etcd);
  http_client to_first{first->where()}, to_second{second->where()};

  REQUIRE(to_first.request("POST", sets, set_json("early"), json).status == 201);
  CHECK(eventually([&] { return has_replicas(to_second, "early", 3); }));
  int written = 0;
  for (int i = 0; i < 100; ++i) {
    auto& through = i % 2 == 0 ? to_first : to_second;
    auto& other = i % 2 == 0 ? to_second : to_first;
    const auto name = fmt::format("map-{}", i);
    written +=
        through.request("POST", maps, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name), json)
            .status == 201;
    // Neither a read without a revision nor a refusal may use an old state.
    if (i % 4 < 2)
      CHECK(other.request("GET", maps + "/" + name).status == 200);
    else
      CHECK(other.request("PATCH", maps + "/" + name, R"({"data":{"a":"b"}})", merge).status ==
            200);
  }
  CHECK(written == 100);

  // A list is continued at the other one, with its own state.
  const auto token = token_of(to_first.request("GET", maps + "?limit=90").body);
  REQUIRE_FALSE(token.empty());
  CHECK(to_first.request("DELETE", maps + "/map-99").status == 200);
  const auto rest = to_second.request("GET", maps + "?continue=" + token);
  CHECK(rest.status == 200);
  CHECK(rest.body.find("\"map-99\"") != std::string::npos);
  CHECK(to_first.request("POST", maps, R"({"metadata":{"name":"map-99"}})", json).status == 201);

  first->signal(SIGKILL);
  REQUIRE(first->wait(std::chrono::seconds{60}));
  REQUIRE(to_second.request("POST", sets, set_json("late"), json).status == 201);
  const auto before = std::chrono::steady_clock::now();
  CHECK(eventually([&] { return has_replicas(to_second, "late", 3); }));
  UNSCOPED_INFO("led again after " << std::chrono::duration_cast<std::chrono::milliseconds>(
                                          std::chrono::steady_clock::now() - before)
                                          .count()
                                   << " ms");
  const auto all = to_second.request("GET", maps);
  for (int i = 0; i < 100; ++i)
    CHECK(all.body.find(fmt::format("\"map-{}\"", i)) != std::string::npos);

  // The killed one restarts, and follows.
  first = start(first_data, "first", etcd);
  http_client again{first->where()};
  CHECK(again.request("GET", sets + "/late").status == 200);
}

TEST_CASE("a quota is exact when several control planes create objects", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  constexpr int limit = 60, attempts = 30;
  const scratch_folder folder;
  const etcd_server etcd;
  const auto first_data = folder.path() / "first", second_data = folder.path() / "second";
  const auto first = start(first_data, "first", etcd);
  fs::create_directories(second_data);
  fs::copy(first_data / "pki", second_data / "pki", fs::copy_options::recursive);
  const auto second = start(second_data, "second", etcd);
  http_client client{first->where()};
  REQUIRE(client.request("POST", "/api/v1/namespaces", R"({"metadata":{"name":"small"}})", json)
              .status == 201);
  const std::string small = "/api/v1/namespaces/small/";
  REQUIRE(client
              .request("POST", small + "resourcequotas",
                       fmt::format(R"({{"metadata":{{"name":"q"}},"spec":{{"hard":)"
                                   R"({{"count/secrets":"{}"}}}}}})",
                                   limit),
                       json)
              .status == 201);
  // The second one has seen the quota.
  CHECK(http_client{second->where()}.request("GET", small + "resourcequotas/q").status == 200);
  std::atomic<int> created{0}, refused{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&, i] {
      http_client own{(i % 2 == 0 ? first : second)->where()};
      for (int k = 0; k < attempts; ++k) {
        const auto answer =
            own.request("POST", small + "secrets",
                        fmt::format(R"({{"metadata":{{"name":"s-{}-{}"}}}})", i, k), json);
        created += answer.status == 201;
        refused += answer.status == 403;
      }
    });
  for (auto& each : clients)
    each.join();
  CHECK(created == limit);
  CHECK(refused == 4 * attempts - limit);
  const auto all = client.request("GET", small + "secrets").body;
  int found = 0;
  for (auto at = all.find("\"s-"); at != std::string::npos; at = all.find("\"s-", at + 1))
    ++found;
  CHECK(found == limit);

  // Objects that are deleted through one of them make room at the other at once.
  REQUIRE(client.request("DELETE", small + "secrets?limit=500").status == 200);
  CHECK(http_client{second->where()}
            .request("POST", small + "secrets", R"({"metadata":{"name":"after"}})", json)
            .status == 201);
}

TEST_CASE("without etcd old states are read, other requests time out, and the node recovers",
          "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const scratch_folder folder;
  const etcd_server etcd;
  const auto only = start(folder.path() / "only", "only", etcd);
  http_client client{only->where()};
  REQUIRE(client.request("POST", maps, R"({"metadata":{"name":"before"}})", json).status == 201);
  CHECK(client.request("GET", "/readyz").status == 200);

  etcd.signal(SIGSTOP);
  const auto lost = client.request("POST", maps, R"({"metadata":{"name":"lost"}})", json);
  CHECK(lost.status == 504);
  // With retry-after a client would repeat the request by itself, and get "already exists".
  CHECK_FALSE(lost.headers.contains("retry-after"));
  CHECK(client.request("GET", maps + "/before?resourceVersion=0").status == 200);
  CHECK(client.request("GET", maps + "/before").status == 504);
  CHECK(eventually([&] { return client.request("GET", "/readyz").status == 500; }));
  CHECK(client.request("GET", "/livez").status == 200);

  etcd.signal(SIGCONT);
  CHECK(eventually([&] { return client.request("GET", "/readyz").status == 200; }));
  CHECK(eventually([&] {
    return client.request("POST", maps, R"({"metadata":{"name":"after"}})", json).status == 201;
  }));
}
