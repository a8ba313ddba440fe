// A node that is killed while services are created and deleted leaves no allocation without its
// service, and none that two services have.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <thread>

#include "actors/write/admission/service_allocations.hpp"
#include "persistence/store/store.hpp"
#include "support/http_client.hpp"
#include "support/scratch_folder.hpp"
#include "system/node.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

const std::vector<std::string> flags{"--runtime", "simulated", "--log-level", "error"};
const std::string services = "/api/v1/namespaces/default/services";

std::string service_json(const std::string& name) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{"type":"NodePort","ports":[{{"port":80}}]}}}})",
      name);
}

// Creates two services and deletes one, repeatedly, until the node is gone.
void come_and_go(const node& on, int round, int client, std::atomic<int>& answered) {
  try {
    http_client http{on.where()};
    for (int i = 0;; ++i, ++answered) {
      const auto name = fmt::format("r{}-c{}-{}", round, client, i / 3);
      const auto answer = i % 3 < 2
                              ? http.request("POST", services, service_json(name + "abc"[i % 3]),
                                             {{"content-type", "application/json"}})
                              : http.request("DELETE", services + "/" + name + "a");
      if (answer.status == 0) return;
    }
  } catch (const std::exception&) {
    // Its connection broke.
  }
}

}  // namespace

TEST_CASE("a node that is killed while services come and go leaks none of their numbers") {
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  for (int round = 0; round < 4; ++round) {
    INFO("round " << round);
    node on{data, flags};
    std::atomic<int> answered{0};
    std::vector<std::thread> clients;
    for (int c = 0; c < 8; ++c)
      clients.emplace_back([&, c] { come_and_go(on, round, c, answered); });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (answered < 40 + 100 * round && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    on.signal(SIGKILL);
    for (auto& each : clients)
      each.join();
    REQUIRE(on.wait(std::chrono::seconds{60}));
    CHECK(answered >= 40 + 100 * round);

    persistence::store_options options;
    options.directory = (data / "store").string();
    const auto store = persistence::store::open(std::move(options));
    REQUIRE(store);
    CHECK((*store)->read().count("/registry/services/") > 0);
    const auto found = actors::repair_allocations((*store)->read(), 1'000);
    CHECK(found.missing == 0);
    CHECK(found.leaked == 0);
    CHECK(found.doubled == 0);
  }
}
