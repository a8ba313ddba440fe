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

cluster_options only_doors(double conflict_chance = 0) {
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
  cluster c{1, only_doors()};
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
  cluster c{1, only_doors()};
  const auto before = c.create(web())->revision();
  const auto bound = order_bind(c, "n1");
  REQUIRE(bound);
  CHECK((*bound)->as<Pod>().spec().node_name() == "n1");
  const auto changes = c.store().changes(before, 10).value();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].cause.request == 42);
}

TEST_CASE("of two binds of one pod the second is refused") {
  cluster c{1, only_doors()};
  c.create(web());
  CHECK(order_bind(c, "n1"));
  const auto second = order_bind(c, "n2");
  REQUIRE_FALSE(second);
  CHECK(second.error().code == 409);
  CHECK(c.get<Pod>("default", "web").spec().node_name() == "n1");
}

TEST_CASE("a command is tried again after a conflict, and not for ever") {
  cluster often{1, only_doors(0.5)};
  const auto key = often.create(web())->revision();
  int done = 0;
  for (int i = 0; i < 20; ++i) {
    if (order_bind(often, "n1")) ++done;
    often.change<Pod>("default", "web", [](Pod& pod) { pod.mutable_spec()->clear_node_name(); });
  }
  CHECK(key != 0);
  CHECK(done >= 17);  // each fails with a chance of 1 in 32

  cluster always{1, only_doors(1)};
  always.create(web());
  const auto refused = order_bind(always, "n1");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason == "Conflict");
}

}  // namespace troupe::test
