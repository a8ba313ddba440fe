// Writes of the API of 2014 that take longer than a client waits.
#include <catch2/catch.hpp>

#include "runtime/simulation.hpp"
#include "server/fixtures/http_fixture.hpp"
#include "server/fixtures/legacy_fixture.hpp"
#include "server/legacy/defaults.hpp"
#include "server/legacy/operations.hpp"

namespace troupe::server {

using legacy::legacy_call;
using legacy::operations;
using testing::legacy_test;

namespace {

// Writes that end when the test decides: POST starts one, other methods list all or get one.
class slow_writes final : public handler {
 public:
  explicit slow_writes(legacy_test& api) : api_{api}, pending_{api.plane().system()} {}

  void serve(request_ptr request, responder answer) override {
    const auto call = std::make_shared<legacy_call>(api_.api().services(), pending_, request,
                                                    answer, legacy::place{}, verb::get);
    if (request->method == http_method::post) {
      id = pending_.begin(call, runtime::duration{legacy::defaults::async_wait});
      ++begun;
    } else if (request->path == "/all") {
      pending_.list(call);
    } else {
      pending_.show(call, std::stoull(request->path.substr(1)));
    }
  }
  void finish() { pending_.finish(id, {409, R"({"kind":"Status","status":"Failure"})"}); }

  std::atomic<std::uint64_t> id{0};
  std::atomic<int> begun{0};

 private:
  legacy_test& api_;
  operations pending_;
};

std::string state_of(runtime::simulation& world, const runtime::actor_ref& table) {
  std::string out;
  world.system().request<runtime::description>(
      table, runtime::describe{}, std::chrono::seconds{5},
      [&](const auto& answer) { out = answer ? (*answer)->text : "no answer"; });
  world.settle();
  return out;
}

}  // namespace

TEST_CASE("a write that takes its time becomes an operation that can be asked for") {
  legacy_test api;
  slow_writes slow{api};
  http_server http{http_options{}};
  const auto address = http.listen({"127.0.0.1", 0}, slow);
  REQUIRE(address.has_value());
  test::wire_options to;
  to.port = address->port;
  to.tls = false;
  test::http_client client{to};

  const testing::rest_answer begun = client.request("POST", "/");
  CHECK(begun.status == 202);
  CHECK(begun.at("kind") == "Status");
  CHECK(begun.at("status") == "Working");
  CHECK(begun.at("reason") == "Working");
  CHECK(begun.at("details.kind") == "operation");
  const auto id = begun.at("details.id");
  CHECK(id == std::to_string(slow.id));
  const testing::rest_answer old = client.get("/" + id + "?");
  CHECK(old.status == 202);
  CHECK(old.at("status") == "working");
  const testing::rest_answer all = client.get("/all");
  CHECK(all.at("kind") == "ServerOpList");
  CHECK(all.at("items.0.id") == id);

  slow.finish();
  const testing::rest_answer done = client.get("/" + id);
  CHECK(done.status == 200);
  CHECK(done.at("status") == "Failure");
  CHECK(client.get("/" + std::to_string(slow.id + 1)).status == 404);
  http.stop();
}

TEST_CASE("a client that waits for its write gets the result") {
  legacy_test api;
  const auto made = api.old("POST", "/pods?sync=true&timeout=20s",
                            R"({"id":"a","desiredState":{"manifest":{"version":"v1beta1",
                                "containers":[{"name":"c","image":"i"}]}}})");
  CHECK(made.status == 200);
  CHECK(made.at("id") == "a");
  const auto all = api.old("GET", "/operations");
  CHECK(all.at("items.0.id") == "1");
  CHECK(api.old("GET", "/operations/1").at("kind") == "Pod");
  CHECK(api.old("GET", "/operations/2").status == 404);
}

TEST_CASE("results of operations are forgotten ten minutes after their end") {
  runtime::simulation world{1};
  operations pending{world.system()};
  const auto table = world.system().actors().find("operations", "v1beta1");
  for (std::uint64_t id = 1; id <= 3; ++id)
    pending.finish(id, {200, "{}"});
  world.advance(std::chrono::minutes{9});
  CHECK(state_of(world, table) == "operations: 3\nfinished: 3\n");
  world.advance(std::chrono::minutes{7});
  CHECK(state_of(world, table) == "operations: 0\nfinished: 0\n");
}

TEST_CASE("only so many results of operations are kept") {
  runtime::simulation world{1};
  operations pending{world.system()};
  const auto table = world.system().actors().find("operations", "v1beta1");
  for (std::uint64_t id = 1; id <= legacy::defaults::operations_kept + 5; ++id) {
    pending.finish(id, {200, "{}"});
    world.settle();
  }
  CHECK(state_of(world, table) == "operations: 10000\nfinished: 10000\n");
}

}  // namespace troupe::server
