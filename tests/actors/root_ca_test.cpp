// The certificates of the cluster in every namespace.
#include "actors/controllers/root_ca/root_ca.hpp"

#include <catch2/catch.hpp>

#include "actors/controllers/kit/defaults.hpp"
#include "actors/core/cluster_authority.hpp"
#include "actors/room_log.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "support/cluster.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::Namespace;

namespace {

constexpr const char* name = "kube-root-ca.crt";

struct world {
  std::shared_ptr<actors::cluster_authority> authority =
      std::make_shared<actors::cluster_authority>("PEM");
  cluster c;

  explicit world(std::uint64_t seed) : c{seed, options(authority)} {}

  static cluster_options options(std::shared_ptr<const actors::cluster_authority> authority) {
    cluster_options out;
    out.plane.authority = std::move(authority);
    return out;
  }
  std::string published(const std::string& ns) const {
    const auto map = c.find<ConfigMap>(ns, name);
    if (!map) return {};
    const auto& data = map->as<ConfigMap>().data();
    return data.size() == 1 && data.contains("ca.crt") ? data.at("ca.crt") : "other data";
  }
  bool publishes(const std::string& ns, const std::string& certificates = "PEM") {
    return c.run_until([&] { return published(ns) == certificates; });
  }
  void add_namespace(const std::string& ns) {
    Namespace made;
    made.mutable_metadata()->set_name(ns);
    c.create(made);
  }
};

}  // namespace

TEST_CASE("every namespace has the certificates of the cluster", "[root_ca]") {
  for_each_seed(10, [](std::uint64_t seed) {
    world w{seed};
    for (const auto* ns : {"default", "kube-system", "kube-public", "kube-node-lease"})
      CHECK(w.publishes(ns));
    w.add_namespace("shop");
    CHECK(w.publishes("shop"));
    CHECK(w.c.get<ConfigMap>("shop", name).metadata().owner_references().empty());
  });
}

TEST_CASE("certificates that are removed, changed or replaced come back, crash or not",
          "[root_ca]") {
  for_each_seed(10, [](std::uint64_t seed) {
    world w{seed};
    REQUIRE(w.publishes("default"));
    w.c.remove<ConfigMap>("default", name);
    CHECK(w.publishes("default"));
    w.c.change<ConfigMap>("default", name,
                          [](ConfigMap& map) { (*map.mutable_data())["more"] = "x"; });
    CHECK(w.publishes("default"));
    w.c.crash("supervisor", "root_ca");
    w.c.change<ConfigMap>("default", name, [](ConfigMap& map) { map.clear_data(); });
    CHECK(w.publishes("default"));
    w.authority->replace("NEWER");
    CHECK(w.c.run_until([&] { return w.published("default") == "NEWER"; },
                        2 * actors::defaults::resync_period));
  });
}

TEST_CASE("a namespace that ends is not given certificates again", "[root_ca]") {
  world w{1};
  w.add_namespace("doomed");
  REQUIRE(w.publishes("doomed"));
  w.c.remove<Namespace>("", "doomed");
  CHECK(w.c.run_until([&] { return !w.c.find<Namespace>("", "doomed"); }));
  CHECK_FALSE(w.c.find<ConfigMap>("doomed", name));
}

TEST_CASE("without an authority nothing is published", "[root_ca]") {
  cluster c{1};
  c.advance(std::chrono::minutes{1});
  CHECK(c.count<ConfigMap>() == 0);
}

TEST_CASE("certificates that are published or restored are logged once", "[root_ca]") {
  const room_log log;
  world w{1};
  REQUIRE(w.publishes("default"));
  for (const auto& ns : w.c.list<Namespace>())
    REQUIRE(w.publishes(ns->meta().name()));
  w.c.settle();
  CHECK(log.count(" publishes the CA certificates") == w.c.count<Namespace>());
  CHECK(log.count(" restores its CA certificates") == 0);
  w.c.change<ConfigMap>("default", name, [](ConfigMap& map) { map.clear_data(); });
  REQUIRE(w.publishes("default"));
  w.c.advance(2 * actors::defaults::resync_period);
  CHECK(log.count("info root-ca-cert-publisher /registry/namespaces/default at revision ") == 2);
  CHECK(log.count(" restores its CA certificates") == 1);
}

}  // namespace troupe::test
