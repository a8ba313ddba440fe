#include <catch2/catch.hpp>
#include <random>

#include "actors/garbage/garbage_collector.hpp"
#include "actors/garbage/garbage_rules.hpp"
#include "actors/garbage/owner_graph.hpp"
#include "actors/write/creation.hpp"
#include "api/codec/codec.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/schema/batch_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "support/cluster.hpp"
#include "support/nodes.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::core::v1::Pod;
using std::chrono::seconds;

namespace {

// Config maps are owners and dependents alike: the collector reads only metadata.
ConfigMap map_named(const std::string& name, const std::string& ns = "default") {
  ConfigMap map;
  map.mutable_metadata()->set_name(name);
  map.mutable_metadata()->set_namespace_(ns);
  return map;
}

template <class T>
T owned_by(T object, const api::object& owner, bool blocks = false) {
  auto& reference = *object.mutable_metadata()->add_owner_references();
  reference.set_api_version(owner.kind().api_version());
  reference.set_kind(owner.kind().kind());
  reference.set_name(owner.meta().name());
  reference.set_uid(owner.meta().uid());
  reference.set_block_owner_deletion(blocks);
  return object;
}

bool there(cluster& c, const std::string& name) {
  return c.find<ConfigMap>("default", name) != nullptr;
}

bool is_user_map(const api::object_ptr& map) {
  return map->meta().name() != "kube-root-ca.crt";
}

std::size_t maps(cluster& c) {
  const auto all = c.list<ConfigMap>("default");
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_user_map));
}

// Its kind is that of a definition.
api::object_ptr create_custom(cluster& c, std::string_view yaml) {
  auto decoded = api::decode(yaml, api::media::yaml, nullptr);
  REQUIRE(decoded);
  std::mt19937_64 random{1};
  auto transaction =
      actors::create_transaction(c.store().read(), *decoded->kind, std::move(decoded->content),
                                 actors::checks::all, c.now(), random);
  REQUIRE(transaction);
  api::object_ptr made;
  c.plane().commit(std::move(*transaction), 0, [&](persistence::outcome committed) {
    REQUIRE(committed);
    made = committed->objects.front();
  });
  REQUIRE(made != nullptr);
  return made;
}

}  // namespace

TEST_CASE("after the removal of an owner its dependents go at once") {
  cluster c{1};
  const auto owner = c.create(map_named("owner"));
  for (int i = 0; i < 20; ++i) {
    c.create(owned_by(map_named("d" + std::to_string(i)), *owner));
  }
  c.settle();
  c.remove<ConfigMap>("default", "owner");
  c.settle();  // no time passes
  CHECK(maps(c) == 0);
}

TEST_CASE("pods of an owner that has gone get their grace") {
  cluster c{1};
  add_node(c, "n1");
  const auto owner = c.create(map_named("owner"));
  c.create(owned_by(pod_named("a", "n1"), *owner));
  c.remove<ConfigMap>("default", "owner");
  c.settle();
  CHECK(c.get<Pod>("default", "a").metadata().has_deletion_timestamp());
}

TEST_CASE("an object whose owner does not exist, or has another uid, is deleted") {
  cluster c{1};
  const auto owner = c.create(map_named("owner"));
  const auto dependent = owned_by(map_named("late"), *owner);
  c.remove<ConfigMap>("default", "owner");
  c.create(map_named("owner"));
  c.settle();
  c.create(dependent);
  c.settle();
  CHECK_FALSE(there(c, "late"));
  CHECK(there(c, "owner"));
}

TEST_CASE("an object with one owner left loses only the reference to the other") {
  cluster c{1};
  const auto a = c.create(map_named("a"));
  const auto b = c.create(map_named("b"));
  c.create(owned_by(owned_by(map_named("both"), *a), *b));
  c.remove<ConfigMap>("default", "a");
  c.settle();
  REQUIRE(there(c, "both"));
  CHECK(c.get<ConfigMap>("default", "both").metadata().owner_references_size() == 1);
  c.remove<ConfigMap>("default", "b");
  c.settle();
  CHECK_FALSE(there(c, "both"));
}

TEST_CASE("a foreground deletion waits for the dependents that block it") {
  cluster c{1};
  add_node(c, "n1");
  const auto owner = c.create(map_named("owner"));
  auto blocking = owned_by(map_named("blocking"), *owner, true);
  blocking.mutable_metadata()->add_finalizers("example.com/slow");
  c.create(blocking);
  c.create(owned_by(map_named("other"), *owner));
  c.remove<ConfigMap>("default", "owner", -1, "Foreground");
  c.settle();
  CHECK(there(c, "owner"));
  CHECK_FALSE(there(c, "other"));
  REQUIRE(there(c, "blocking"));
  CHECK(c.get<ConfigMap>("default", "blocking").metadata().has_deletion_timestamp());
  c.change<ConfigMap>("default", "blocking",
                      [](ConfigMap& map) { map.mutable_metadata()->clear_finalizers(); });
  c.settle();
  CHECK(maps(c) == 0);
}

TEST_CASE("an orphaning deletion leaves the dependents behind, without the reference") {
  cluster c{1};
  const auto owner = c.create(map_named("owner"));
  for (int i = 0; i < 5; ++i) {
    c.create(owned_by(map_named("d" + std::to_string(i)), *owner));
  }
  c.remove<ConfigMap>("default", "owner", -1, "Orphan");
  c.settle();
  CHECK_FALSE(there(c, "owner"));
  CHECK(maps(c) == 5);
  CHECK(c.get<ConfigMap>("default", "d0").metadata().owner_references_size() == 0);
}

TEST_CASE("a second deletion may leave behind the dependents that the first one waits for") {
  cluster c{1};
  const auto owner = c.create(map_named("owner"));
  auto blocking = owned_by(map_named("blocking"), *owner, true);
  blocking.mutable_metadata()->add_finalizers("example.com/slow");
  c.create(blocking);
  c.remove<ConfigMap>("default", "owner", -1, "Foreground");
  c.settle();
  REQUIRE(there(c, "owner"));
  c.remove<ConfigMap>("default", "owner", -1, "Orphan");
  c.settle();
  CHECK_FALSE(there(c, "owner"));
  CHECK(c.get<ConfigMap>("default", "blocking").metadata().owner_references_size() == 0);
}

TEST_CASE("owners in a circle that are deleted in the foreground come to an end") {
  cluster c{1};
  const auto a = c.create(map_named("a"));
  const auto b = c.create(owned_by(map_named("b"), *a, true));
  c.change<ConfigMap>("default", "a", [&](ConfigMap& map) { map = owned_by(map, *b, true); });
  c.settle();
  CHECK(maps(c) == 2);
  c.remove<ConfigMap>("default", "a", -1, "Foreground");
  c.advance(seconds{5});
  CHECK(maps(c) == 0);
}

TEST_CASE("a removed owner of a circle deletes the others, or orphans them") {
  for (const char* policy : {"Background", "Orphan"}) {
    CAPTURE(policy);
    cluster c{1};
    const auto a = c.create(map_named("a"));
    const auto b = c.create(owned_by(map_named("b"), *a, true));
    const auto last = c.create(owned_by(map_named("last"), *b, true));
    c.change<ConfigMap>("default", "a", [&](ConfigMap& map) { map = owned_by(map, *last, true); });
    c.settle();
    REQUIRE(maps(c) == 3);
    c.remove<ConfigMap>("default", "a", -1, policy);
    c.advance(seconds{5});
    CHECK_FALSE(there(c, "a"));
    const bool left = std::string_view{policy} == "Orphan";
    CHECK(maps(c) == (left ? 2U : 0U));
    if (left) CHECK(c.get<ConfigMap>("default", "b").metadata().owner_references_size() == 0);
  }
}

TEST_CASE("an owner in another namespace does not count, and an event reports it") {
  cluster c{1};
  Namespace other;
  other.mutable_metadata()->set_name("other");
  c.create(other);
  const auto owner = c.create(map_named("owner", "other"));
  c.create(owned_by(map_named("stray"), *owner));
  c.settle();
  CHECK_FALSE(there(c, "stray"));
  const auto events = c.list<api::core::v1::Event>("default");
  REQUIRE(events.size() == 1);
  CHECK(events[0]->as<api::core::v1::Event>().reason() == "OwnerRefInvalidNamespace");
}

TEST_CASE("an owner of an unknown kind keeps its dependents") {
  cluster c{1};
  auto map = map_named("kept");
  auto& reference = *map.mutable_metadata()->add_owner_references();
  reference.set_api_version("example.com/v1");
  reference.set_kind("Unknown");
  reference.set_name("x");
  reference.set_uid("u");
  c.create(map);
  c.advance(seconds{10});
  CHECK(there(c, "kept"));
}

TEST_CASE("the dependents of a custom object go although its definition has gone as well") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    cluster c{seed};
    c.create_yaml(
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
        "widgets.example.dev}, spec: {group: example.dev, scope: Namespaced, names: {plural: "
        "widgets, kind: Widget}, versions: [{name: v1, served: true, storage: true, schema: "
        "{openAPIV3Schema: {type: object}}}]}}");
    c.advance(seconds{1});
    const auto owner = create_custom(
        c, "{apiVersion: example.dev/v1, kind: Widget, metadata: {name: w, namespace: default}}");
    // More than the collector removes at a time.
    for (std::size_t i = 0; i < actors::defaults::garbage_in_flight + 100; ++i)
      c.create(owned_by(map_named("d" + std::to_string(i)), *owner));
    c.settle();
    c.remove<api::apiextensions::v1::CustomResourceDefinition>({}, "widgets.example.dev");
    c.advance(seconds{10});
    CHECK(maps(c) == 0);
  }
}

// As the Jobs that kube-controller-manager 1.20 makes.
TEST_CASE("an owner is found by a version of its kind that is not served") {
  cluster c{1};
  api::batch::v1::CronJob cron_job;
  cron_job.mutable_metadata()->set_name("owner");
  cron_job.mutable_metadata()->set_namespace_("default");
  cron_job.mutable_spec()->set_schedule("@yearly");
  auto& job = *cron_job.mutable_spec()->mutable_job_template()->mutable_spec();
  *job.mutable_template_()->mutable_spec() = pod_named("unused").spec();
  job.mutable_template_()->mutable_spec()->set_restart_policy("Never");
  const auto owner = c.create(cron_job);
  auto map = owned_by(map_named("kept"), *owner);
  map.mutable_metadata()->mutable_owner_references(0)->set_api_version("batch/v1beta1");
  c.create(map);
  c.advance(seconds{10});
  CHECK(there(c, "kept"));
  c.remove<api::batch::v1::CronJob>("default", "owner");
  c.settle();
  CHECK_FALSE(there(c, "kept"));
}

TEST_CASE("ten thousand dependents go without loss, through a crash of the collector") {
  cluster c{1};
  const auto owner = c.create(map_named("owner"));
  for (int i = 0; i < 10'000; ++i) {
    c.create(owned_by(map_named("d" + std::to_string(i)), *owner));
  }
  c.settle();
  c.remove<ConfigMap>("default", "owner");
  for (int i = 0; i < 2'000; ++i)
    c.simulation().step();
  c.crash("garbage-collector", "garbage-collector");
  CHECK(c.run_until([&] { return maps(c) == 0; }));
}

TEST_CASE("all orphans lose their owner reference, however many, despite conflicts") {
  cluster_options options;
  options.plane.conflict_chance = 0.1;
  cluster c{3, options};
  const auto owner = c.create(map_named("owner"));
  for (int i = 0; i < 1'200; ++i) {
    c.create(owned_by(map_named("d" + std::to_string(i)), *owner));
  }
  c.remove<ConfigMap>("default", "owner", -1, "Orphan");
  CHECK(c.run_until([&] { return !there(c, "owner"); }));
  CHECK(maps(c) == 1'200);
  for (const auto& map : c.list<ConfigMap>("default")) {
    CHECK(map->meta().owner_references().empty());
  }
}

TEST_CASE("the graph lists the current dependents of an owner") {
  actors::owner_graph graph;
  const api::object owner{api::kind_of<ConfigMap>(), std::make_unique<ConfigMap>([] {
                            auto map = map_named("owner");
                            map.mutable_metadata()->set_uid("u1");
                            return map;
                          }()),
                          1};
  const auto with = [&](bool blocks) {
    return api::object{api::kind_of<ConfigMap>(),
                       std::make_unique<ConfigMap>(owned_by(map_named("d"), owner, blocks)), 2};
  };
  CHECK(graph.put("/d", with(true)).empty());
  CHECK(graph.dependents_of("u1") == std::vector<std::string>{"/d"});
  CHECK(graph.blocking_dependents_of("u1") == std::vector<std::string>{"/d"});
  CHECK(graph.put("/d", with(false)).empty());
  CHECK(graph.blocking_dependents_of("u1").empty());
  CHECK(graph.erase("/d") == std::vector<std::string>{"u1"});
  CHECK_FALSE(graph.has_dependents("u1"));
  CHECK(graph.size() == 0);
}

}  // namespace troupe::test
