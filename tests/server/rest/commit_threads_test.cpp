// Responses to clients must not block the threads that commit.
#include <fmt/format.h>
#include <pthread.h>

#include <catch2/catch.hpp>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "api/codec/encode_count.hpp"
#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";
const std::string maps = "/api/v1/namespaces/default/configmaps";
const std::string controllers = "/api/v1/namespaces/default/replicationcontrollers";

std::string map_json(const std::string& name, const std::string& value) {
  return fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{{"k":"{}"}}}})", name, value);
}

const char* controller_json =
    R"({"metadata":{"name":"rc"},"spec":{"replicas":2,"template":{"metadata":{"labels":{"a":"b"}},
        "spec":{"containers":[{"name":"c","image":"i"}]}}}})";

constexpr int ways_to_write = 11;

void write_in_all_ways(rest_test& server) {
  CHECK(server.post(maps, map_json("a", "1")).status == 201);
  CHECK(server.post(maps, map_json("a", "1")).status == 409);
  CHECK(server.put(maps + "/a", map_json("a", "2")).status == 200);
  CHECK(server.patch(maps + "/a", "merge", R"({"data":{"k":"3"}})").status == 200);
  CHECK(server.post(controllers, controller_json).status == 201);
  CHECK(server.patch(controllers + "/rc/scale", "merge", R"({"spec":{"replicas":0}})").status ==
        200);
  server.create_pod("p");
  CHECK(server.post(pods + "/p/binding", R"({"metadata":{"name":"p"},"target":{"name":"n"}})")
            .status == 201);
  CHECK(server.post(pods + "/p/eviction", R"({"metadata":{"name":"p"}})").status == 201);
  CHECK(server.remove(maps + "/a").status == 200);
  CHECK(server.remove(maps).status == 200);
}

}  // namespace

TEST_CASE("no answer is made on a thread that commits") {
  std::mutex mutex;
  std::map<std::string, int> threads;  // by name
  server::rest_options options;
  options.observe = [&](const server::request_record&) {
    char name[16] = {};
    ::pthread_getname_np(::pthread_self(), name, sizeof name);
    const std::lock_guard lock{mutex};
    ++threads[name];
  };
  {
    rest_test server{{.rest = std::move(options)}};
    write_in_all_ways(server);
  }
  const std::lock_guard lock{mutex};
  int all = 0;
  for (const auto& [name, count] : threads)
    all += count;
  CHECK(all == ways_to_write);
  CHECK(threads["store-commit"] == 0);
}

TEST_CASE("no text for a client or a watcher is encoded on a thread that commits") {
  rest_test server;
  const auto from =
      maps + "?watch=true&resourceVersion=" + server.get(maps).at("metadata.resourceVersion");
  watching objects{server.where(), from};
  watching rows{server.where(), from, {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}}};
  write_in_all_ways(server);
  for (auto* each : {&objects, &rows})
    for (const char* type : {"ADDED", "MODIFIED", "MODIFIED", "DELETED"}) {
      const auto event = each->next();
      REQUIRE(event);
      CHECK(event->at("type") == type);
    }
  // Barriers are answered by the threads that commit, which take turns.
  std::map<std::thread::id, std::uint64_t> encoded;
  for (int i = 0; i < 200; ++i) {
    std::promise<void> passed;
    server.store().barrier([&](const persistence::expected<persistence::revision>&) {
      encoded[std::this_thread::get_id()] = api::encoded_texts();
      passed.set_value();
    });
    passed.get_future().wait();
  }
  CHECK_FALSE(encoded.contains(std::this_thread::get_id()));
  for (const auto& [thread, count] : encoded)
    CHECK(count == 0);
}
