#include "actors/namespaces/namespaces.hpp"

#include <catch2/catch.hpp>

#include "actors/core/condition.hpp"
#include "actors/room_log.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_quota.pb.h"
#include "support/cluster.hpp"
#include "support/nodes.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::core::v1::ResourceQuota;
using api::core::v1::ServiceAccount;
using std::chrono::seconds;

namespace {

void add_space(cluster& c, const std::string& name) {
  Namespace ns;
  ns.mutable_metadata()->set_name(name);
  c.create(ns);
  c.settle();
}

}  // namespace

TEST_CASE("the namespaces of the system exist, each with its default service account") {
  cluster c{1};
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    INFO(name);
    CHECK(c.find<Namespace>({}, name));
    CHECK(c.find<ServiceAccount>(name, "default"));
  }
}

TEST_CASE("a default service account that is removed comes back") {
  cluster c{1};
  c.remove<ServiceAccount>("default", "default");
  c.settle();
  CHECK(c.find<ServiceAccount>("default", "default"));
}

TEST_CASE("a default service account that a quota refuses is retried with back-off") {
  cluster c{1};
  const room_log log;
  ResourceQuota none;
  none.mutable_metadata()->set_name("none");
  (*none.mutable_spec()->mutable_hard())["count/serviceaccounts"].set_string("0");
  c.create(none);
  c.settle();
  c.remove<ServiceAccount>("default", "default");
  c.advance(seconds{600});
  CHECK_FALSE(c.find<ServiceAccount>("default", "default"));
  // After 1, 2, 4 ... 60 s.
  const auto attempts = log.count("creating /registry/serviceaccounts/default/default failed");
  CHECK(attempts >= 10);
  CHECK(attempts <= 20);
  c.remove<ResourceQuota>("default", "none");
  CHECK(c.run_until([&] { return c.find<ServiceAccount>("default", "default") != nullptr; },
                    seconds{61}));
}

TEST_CASE("a namespace made again under its name loses nothing to the end of the former one") {
  for_each_seed(100, [](std::uint64_t seed) {
    cluster c{seed};
    runtime::fault_plan late;
    late.delay = 0.3;
    c.simulation().faults(late);
    for (int round = 0; round < 5; ++round) {
      add_space(c, "again");
      ConfigMap map;
      map.mutable_metadata()->set_name("kept");
      map.mutable_metadata()->set_namespace_("again");
      c.create(map);
      c.advance(seconds{1});
      REQUIRE(c.find<ConfigMap>("again", "kept"));
      REQUIRE(c.get<Namespace>({}, "again").spec().finalizers_size() == 1);
      c.remove<Namespace>({}, "again");
      // Not a step later: pending writes of the earlier deletion must meet the new namespace.
      while (c.find<Namespace>({}, "again"))
        if (!c.simulation().step()) c.advance(std::chrono::milliseconds{1});
    }
  });
}

TEST_CASE("a namespace without its finalizer goes when it is deleted") {
  cluster c{1};
  add_space(c, "bare");
  c.change<Namespace>({}, "bare", [](Namespace& n) { n.mutable_spec()->clear_finalizers(); });
  c.remove<Namespace>({}, "bare");
  CHECK(c.run_until([&] { return !c.find<Namespace>({}, "bare"); }, seconds{5}));
}

TEST_CASE("a namespace that is deleted is emptied, then gone") {
  cluster c{1};
  add_space(c, "doomed");
  for (int i = 0; i < 700; ++i) {
    ConfigMap map;
    map.mutable_metadata()->set_name("m" + std::to_string(i));
    map.mutable_metadata()->set_namespace_("doomed");
    c.create(map);
  }
  c.remove<Namespace>({}, "doomed");
  CHECK(c.run_until([&] { return !c.find<Namespace>({}, "doomed"); }, seconds{5}));
  CHECK(c.count<ConfigMap>("doomed") == 0);
  CHECK(c.count<ServiceAccount>("doomed") == 0);
  CHECK(c.count<ServiceAccount>("default") == 1);
}

TEST_CASE("the pods of a namespace go first, and it waits for them") {
  cluster c{1};
  add_node(c, "n1");
  add_space(c, "doomed");
  auto pod = pod_named("a", "n1");
  pod.mutable_metadata()->set_namespace_("doomed");
  c.create(pod);
  ConfigMap map;
  map.mutable_metadata()->set_name("needed");
  map.mutable_metadata()->set_namespace_("doomed");
  c.create(map);
  c.remove<Namespace>({}, "doomed");
  keep_alive(c, {"n1"}, seconds{20});
  CHECK(c.get<Pod>("doomed", "a").metadata().has_deletion_timestamp());
  CHECK(c.find<ConfigMap>("doomed", "needed"));
  const auto ns = c.get<Namespace>({}, "doomed");
  CHECK(ns.status().phase() == "Terminating");
  const auto* left = actors::find_condition(ns.status().conditions(), "NamespaceContentRemaining");
  REQUIRE(left != nullptr);
  CHECK(left->message().find("pods. has 1 resource instances") != std::string::npos);
  // As its kubelet would.
  c.remove<Pod>("doomed", "a", 0);
  CHECK(c.run_until([&] { return !c.find<Namespace>({}, "doomed"); }, seconds{5}));
}

TEST_CASE("a finalizer of another program keeps a namespace, and its status says so") {
  cluster c{1};
  add_space(c, "doomed");
  ConfigMap map;
  map.mutable_metadata()->set_name("held");
  map.mutable_metadata()->set_namespace_("doomed");
  map.mutable_metadata()->add_finalizers("example.com/mine");
  c.create(map);
  c.remove<Namespace>({}, "doomed");
  c.advance(seconds{30});
  const auto ns = c.get<Namespace>({}, "doomed");
  const auto* held =
      actors::find_condition(ns.status().conditions(), "NamespaceFinalizersRemaining");
  REQUIRE(held != nullptr);
  CHECK(held->message().find("example.com/mine in 1 resource instances") != std::string::npos);
  c.change<ConfigMap>("doomed", "held",
                      [](ConfigMap& m) { m.mutable_metadata()->clear_finalizers(); });
  CHECK(c.run_until([&] { return !c.find<Namespace>({}, "doomed"); }, seconds{5}));
}

TEST_CASE("the end of a namespace survives crashes and conflicts") {
  cluster_options options;
  options.plane.conflict_chance = 0.2;
  cluster c{GENERATE(range<std::uint64_t>(1, 11)), options};
  add_space(c, "doomed");
  for (int i = 0; i < 30; ++i) {
    ConfigMap map;
    map.mutable_metadata()->set_name("m" + std::to_string(i));
    map.mutable_metadata()->set_namespace_("doomed");
    c.create(map);
  }
  c.remove<Namespace>({}, "doomed");
  for (int i = 0; i < 40; ++i)
    c.simulation().step();
  c.crash("namespaces", "namespaces");
  CHECK(c.run_until([&] { return !c.find<Namespace>({}, "doomed"); }));
}

}  // namespace troupe::test
