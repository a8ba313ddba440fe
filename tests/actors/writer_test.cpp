#include "actors/write/writer.hpp"

#include <catch2/catch.hpp>

#include "actors/core/condition.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "runtime/actor_system.hpp"
#include "support/cluster.hpp"

namespace troupe::test {

using actors::bind;
using actors::command_done;
using actors::commit;
using actors::commit_done;
using api::core::v1::ConfigMap;
using api::core::v1::Pod;
using std::chrono::seconds;

namespace {

Pod web() {
  Pod pod;
  pod.mutable_metadata()->set_name("web");
  auto& container = *pod.mutable_spec()->add_containers();
  container.set_name("c");
  container.set_image("web:1");
  return pod;
}

cluster_options controllers_off(double conflict_chance = 0) {
  cluster_options options;
  options.plane.controllers = false;
  options.plane.conflict_chance = conflict_chance;
  return options;
}

api::expected<api::object_ptr> order_bind(cluster& c, const std::string& node) {
  api::expected<api::object_ptr> result = api::fail(api::internal("no answer"));
  c.plane().bind({"/registry/pods/default/web", {}, node}, 42, [&](auto done) { result = done; });
  c.settle();
  return result;
}

}  // namespace

TEST_CASE("the writer commits a transaction and answers with its revision") {
  cluster c{1, controllers_off()};
  auto map = std::make_unique<ConfigMap>();
  map->mutable_metadata()->set_name("a");
  auto transaction = std::make_shared<persistence::transaction>();
  const auto key = api::kind_of<ConfigMap>().key("default", "a");
  transaction->preconditions.push_back({key, 0});
  transaction->mutations.push_back({key, &api::kind_of<ConfigMap>(), std::move(map)});
  persistence::revision at = 0;
  c.simulation().system().request<commit_done>(
      c.plane().core_actors().writer, commit{transaction}, seconds{1},
      [&](auto reply) { at = reply.value()->result.value().at; });
  c.settle();
  REQUIRE(at != 0);
  CHECK(c.store().read().find(key)->revision() == at);
}

TEST_CASE("a bind command ends as a transaction with the request as its cause") {
  cluster c{1, controllers_off()};
  const auto before = c.create(web())->revision();
  const auto bound = order_bind(c, "n1");
  REQUIRE(bound);
  CHECK((*bound)->as<Pod>().spec().node_name() == "n1");
  const auto changes = c.store().changes(before, 10).value();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].cause.request == 42);
}

TEST_CASE("of two binds of one pod the second is refused") {
  cluster c{1, controllers_off()};
  c.create(web());
  CHECK(order_bind(c, "n1"));
  const auto second = order_bind(c, "n2");
  REQUIRE_FALSE(second);
  CHECK(second.error().code == 409);
  CHECK(c.get<Pod>("default", "web").spec().node_name() == "n1");
}

TEST_CASE("a command is tried again after a conflict, and not for ever") {
  cluster often{1, controllers_off(0.5)};
  const auto key = often.create(web())->revision();
  int done = 0;
  for (int i = 0; i < 20; ++i) {
    if (order_bind(often, "n1")) ++done;
    often.change<Pod>("default", "web", [](Pod& pod) { pod.mutable_spec()->clear_node_name(); });
  }
  CHECK(key != 0);
  CHECK(done >= 17);  // each fails with a chance of 1 in 32

  cluster always{1, controllers_off(1)};
  always.create(web());
  const auto refused = order_bind(always, "n1");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason == "Conflict");
}

// -- a term of leadership -------------------------------------------------------------------------

namespace {

// A writer whose messages the test holds back, beside those of the control plane.
struct gated_writer {
  explicit gated_writer(cluster& c)
      : service{std::make_shared<actors::write_service>(c.store(), c.plane().system().time(),
                                                        actors::write_options{.threads = false})},
        ref{c.plane().system().spawn(
            {.kind = "writer", .name = "gated"},
            runtime::make<actors::writer>(service, actors::writer_options{.gate = gate}))} {}

  std::shared_ptr<actors::write_gate> gate = std::make_shared<actors::write_gate>();
  std::shared_ptr<actors::write_service> service;
  runtime::actor_ref ref;
};

commit config_map(const std::string& name) {
  auto map = std::make_unique<ConfigMap>();
  map->mutable_metadata()->set_name(name);
  auto transaction = std::make_shared<persistence::transaction>();
  const auto& kind = api::kind_of<ConfigMap>();
  transaction->mutations.push_back({kind.key("default", name), &kind, std::move(map)});
  return commit{std::move(transaction)};
}

}  // namespace

TEST_CASE("a writer whose term is over refuses commits, commands and barriers", "[leading]") {
  cluster c{1, controllers_off()};
  c.create(web());
  gated_writer term{c};
  auto& system = c.simulation().system();
  std::vector<std::string> told;
  const auto ask = [&](const std::string& name) {
    told.clear();
    system.request<commit_done>(term.ref, config_map(name), seconds{1}, [&](const auto& reply) {
      told.push_back(reply.value()->result ? "done" : (*reply)->result.error().message);
    });
    system.request<command_done>(
        term.ref, bind{"/registry/pods/default/web", {}, "n1"}, seconds{1}, [&](const auto& reply) {
          told.push_back(reply.value()->result ? "done" : (*reply)->result.error().message);
        });
    system.request<actors::barrier_done>(
        term.ref, actors::barrier{}, seconds{1}, [&](const auto& reply) {
          told.push_back(reply.value()->reached ? "done" : (*reply)->reached.error().message);
        });
    c.settle();
  };
  ask("a");
  CHECK(told == std::vector<std::string>(3, "done"));
  term.gate->close();
  const auto before = c.store().read().at();
  ask("b");
  CHECK(told == std::vector<std::string>(3, "this control plane no longer leads"));
  CHECK(c.store().read().at() == before);
}

TEST_CASE("a command that meets others' writes is tried again, but not after its term",
          "[leading][far]") {
  auto options = controllers_off();
  options.far = true;
  options.foreign = 1;  // at every attempt a remote writer was faster
  cluster c{1, options};
  c.create(web());
  gated_writer term{c};
  api::error refused;
  c.simulation().system().request<command_done>(
      term.ref, bind{"/registry/pods/default/web", {}, "n1"}, seconds{1},
      [&](const auto& reply) { refused = reply.value()->result.error(); });
  while (term.service->count().under_way == 0)
    REQUIRE(c.simulation().step());
  const bool over = GENERATE(false, true);
  if (over) term.gate->close();
  c.settle();
  CHECK(refused.code == (over ? 503 : 409));
  CHECK(term.service->count().conflicts == (over ? 1 : 5));
  CHECK(c.get<Pod>("default", "web").spec().node_name().empty());
}

TEST_CASE("a barrier through the writer is passed after all that was sent before it", "[far]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto options = controllers_off();
    options.far = true;
    cluster c{seed, options};
    auto& system = c.simulation().system();
    const auto& writer = c.plane().core_actors().writer;
    persistence::revision newest = 0, reached = 0, seen = 0;
    for (const char* name : {"a", "b", "c"})
      system.request<commit_done>(writer, config_map(name), seconds{1}, [&](const auto& reply) {
        newest = reply.value()->result.value().at;
      });
    system.request<actors::barrier_done>(writer, actors::barrier{}, seconds{1},
                                         [&](const auto& reply) {
                                           reached = reply.value()->reached.value();
                                           seen = newest;
                                         });
    c.settle();
    CHECK(reached >= newest);
    CHECK(seen == newest);
  }
}

}  // namespace troupe::test
