// How a node ends, and the processes that survive it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>

#include "support/http_client.hpp"
#include "support/programs/eventually.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "system/node.hpp"

using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";
const http_client::fields json{{"content-type", "application/json"}};

// A pod with a process that prints a line and keeps running.
std::string pod(const std::string& name) {
  return R"({"metadata":{"name":")" + name +
         R"("},"spec":{"terminationGracePeriodSeconds":1,"containers":[{"name":"c","image":"none",)"
         R"("command":["sh","-c","echo hello; exec sleep 1000"]}]}})";
}

bool is_running(http_client& client, const std::string& name) {
  return client.get(pods + "/" + name).body.find(R"("phase":"Running")") != std::string::npos;
}

// Shims of containers, by the folder on their command line; the brackets keep the
// pattern from matching the command itself.
int shims(const std::string& folder) {
  return std::stoi(shell("pgrep -c -f '" + folder + "/pods[/]' || true").output);
}

}  // namespace

TEST_CASE("SIGTERM ends a node within two seconds despite clients and pods; its pods run on") {
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  const std::vector<std::string> flags{"--root-dir", (folder.path() / "pods").string(),
                                       "--node-name", "here"};
  {
    const auto spawned = std::chrono::steady_clock::now();
    node first{data, flags};
    const auto start = std::chrono::steady_clock::now() - spawned;
    http_client client{first.where()};
    for (const std::string name : {"a", "b", "c"}) {
      REQUIRE(client.request("POST", pods, pod(name), json).status == 201);
      REQUIRE(eventually([&] { return is_running(client, name); }));
    }
    std::vector<std::unique_ptr<http_client>> watchers;
    for (int i = 0; i < 20; ++i) {
      watchers.push_back(std::make_unique<http_client>(first.where()));
      watchers.back()->send_request("GET", pods + "?watch=true");
      REQUIRE(watchers.back()->receive_head().status == 200);
    }
    http_client informer{first.where()};
    informer.send_request("GET", pods + "/a/log?follow=true");
    REQUIRE(informer.receive_head().status == 200);
    CHECK(informer.next_chunk() == "hello\n");

    const auto begin = std::chrono::steady_clock::now();
    first.signal(SIGTERM);
    CHECK(first.wait(60s) == 0);
    const auto took = std::chrono::steady_clock::now() - begin;
    // On a slow machine the start took as much longer.
    CHECK(took < std::max<std::chrono::nanoseconds>(2s, 4 * start));
    // Each watch ends like a complete chunked response, so that clients do not report an error.
    for (auto& each : watchers)
      while (each->next_chunk()) {
      }
  }
  CHECK(shims(folder.path()) > 0);
  const node second{data, flags};
  http_client client{second.where()};
  for (const std::string name : {"a", "b", "c"}) {
    CHECK(eventually([&] { return is_running(client, name); }));
    CHECK(client.get(pods + "/" + name).body.find(R"("restartCount":0)") != std::string::npos);
    CHECK(client.request("DELETE", pods + "/" + name).status == 200);
  }
  for (const std::string name : {"a", "b", "c"})
    CHECK(eventually([&] { return client.get(pods + "/" + name).status == 404; }));
  CHECK(eventually([&] { return shims(folder.path()) == 0; }));
}
