// The keys of cluster addresses and node ports must always match the Services, whoever creates,
// changes or deletes the Services.
#include "actors/write/admission/service_allocations.hpp"

#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "api/object/object_key.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/schema/internal_v1.pb.h"
#include "support/cluster.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using api::allocation::v1::ServiceAllocation;
using api::core::v1::Namespace;
using api::core::v1::Service;

namespace {

cluster_options controllers_off() {
  cluster_options options;
  options.plane.controllers = false;
  return options;
}

Service service(const std::string& name, const std::string& address, int node_port = 0) {
  Service made;
  made.mutable_metadata()->set_name(name);
  made.mutable_spec()->set_cluster_ip(address);
  auto& port = *made.mutable_spec()->add_ports();
  port.set_port(80);
  port.set_protocol("TCP");
  if (node_port == 0) return made;
  made.mutable_spec()->set_type("NodePort");
  port.set_node_port(node_port);
  return made;
}

// Uid of the owner by key.
std::map<std::string, std::string> keys(const cluster& c) {
  std::map<std::string, std::string> out;
  for (const auto& each : c.list<ServiceAllocation>())
    out[api::key_of(*each)] = each->as<ServiceAllocation>().service_uid();
  return out;
}

// The same, derived from the Services.
std::map<std::string, std::string> numbers(const cluster& c) {
  std::map<std::string, std::string> out;
  for (const auto& each : c.list<Service>()) {
    const auto& spec = each->as<Service>().spec();
    if (!spec.cluster_ip().empty() && spec.cluster_ip() != "None")
      out[actors::address_allocation_key(spec.cluster_ip())] = each->meta().uid();
    for (const auto& port : spec.ports())
      if (port.node_port() != 0)
        out[actors::port_allocation_key(port.node_port(), port.protocol())] = each->meta().uid();
  }
  return out;
}

// Bypasses the writer: as in a store that is older than the keys.
void put_raw(cluster& c, const Service& content, const std::string& uid) {
  auto made = std::make_unique<Service>(content);
  made->mutable_metadata()->set_namespace_("default");
  made->mutable_metadata()->set_uid(uid);
  persistence::transaction transaction;
  const auto& kind = api::kind_of<Service>();
  transaction.mutations.push_back(
      {kind.key("default", content.metadata().name()), &kind, std::move(made)});
  bool done = false;
  c.store().submit(std::move(transaction),
                   [&](const persistence::outcome& result) { done = result.has_value(); });
  REQUIRE(done);
}

}  // namespace

TEST_CASE("a number is given with its key, kept with it and taken with it", "[services]") {
  cluster c{1, controllers_off()};
  c.create(service("a", "10.96.0.7", 30'080));
  CHECK(keys(c).size() == 2);
  CHECK(keys(c) == numbers(c));
  c.change<Service>("default", "a", [](Service& s) { s.mutable_spec()->set_cluster_ip("None"); });
  CHECK(keys(c) == numbers(c));
  c.change<Service>("default", "a",
                    [](Service& s) { s.mutable_spec()->mutable_ports(0)->set_node_port(30'081); });
  CHECK(keys(c).size() == 1);
  CHECK(keys(c) == numbers(c));
  c.remove<Service>("default", "a");
  CHECK(keys(c).empty());
}

TEST_CASE("of two services that take the same number at once one gets a conflict on its key",
          "[services]") {
  cluster c{1, controllers_off()};
  c.create(service("a", "10.96.0.7"));
  // Chosen before the first was visible.
  const auto second = c.try_create(std::make_unique<Service>(service("b", "10.96.0.7")));
  REQUIRE_FALSE(second);
  CHECK(second.error().code == 409);
  CHECK(c.find<Service>("default", "b") == nullptr);
  CHECK(keys(c) == numbers(c));
  CHECK(actors::is_allocation_key(keys(c).begin()->first));
  CHECK_FALSE(actors::is_allocation_key("/registry/services/default/a"));
}

TEST_CASE("a namespace that ends, and a service that waits for a finalizer, leave no key behind",
          "[services]") {
  cluster c{1};
  Namespace ns;
  ns.mutable_metadata()->set_name("shop");
  c.create(ns);
  c.settle();
  auto inside = service("a", "10.96.0.7", 30'080);
  inside.mutable_metadata()->set_namespace_("shop");
  c.create(inside);
  auto slow = service("slow", "10.96.0.8");
  slow.mutable_metadata()->add_finalizers("example.org/wait");
  c.create(slow);
  c.remove<Service>("default", "slow");
  CHECK(keys(c).size() == 3);
  c.remove<Namespace>({}, "shop");
  CHECK(c.run_until([&] { return keys(c).size() == 1; }));
  c.change<Service>("default", "slow",
                    [](Service& s) { s.mutable_metadata()->clear_finalizers(); });
  CHECK(c.find<Service>("default", "slow") == nullptr);
  CHECK(keys(c).empty());
}

TEST_CASE("the allocation keys match the services' numbers, after any changes", "[services]") {
  for_each_seed(30, [](std::uint64_t seed) {
    cluster c{seed, controllers_off()};
    std::mt19937_64 random{seed};
    const auto below = [&](std::uint64_t limit) { return static_cast<int>(random() % limit); };
    for (int i = 0; i < 300; ++i) {
      const auto name = fmt::format("s{}", below(12));
      const auto address = below(4) == 0 ? "None" : fmt::format("10.96.0.{}", 16 + below(15));
      const auto port = below(2) == 0 ? 0 : 30'000 + below(8);
      const auto old = c.find<Service>("default", name);
      if (!old) {
        (void)c.try_create(std::make_unique<Service>(service(name, address, port)));
      } else if (below(3) == 0) {
        c.remove<Service>("default", name);
      } else if (!numbers(c).contains(actors::address_allocation_key(address)) &&
                 !numbers(c).contains(actors::port_allocation_key(port, "TCP"))) {
        c.change<Service>("default", name, [&](Service& s) {
          *s.mutable_spec() = service(name, address, port).spec();
        });
      }
      REQUIRE(keys(c) == numbers(c));
    }
  });
}

TEST_CASE(
    "a store older than the allocation keys gets them, and keys without a service are removed",
    "[services]") {
  cluster c{1, controllers_off()};
  put_raw(c, service("a", "10.96.0.7", 30'080), "uid-a");
  put_raw(c, service("b", "10.96.0.8"), "uid-b");
  put_raw(c, service("twin", "10.96.0.8"), "uid-twin");
  c.create(service("ghost", "10.96.0.9"));
  c.create(service("moved", "10.96.0.12"));
  put_raw(c, service("moved", "10.96.0.11"), c.find<Service>("default", "moved")->meta().uid());
  persistence::transaction gone;
  gone.mutations.push_back({api::kind_of<Service>().key("default", "ghost"), nullptr, nullptr});
  c.store().submit(std::move(gone), [](const persistence::outcome&) {});

  std::size_t missing = 0, leaked = 0, doubled = 0, rounds = 0;
  for (;; ++rounds) {
    REQUIRE(rounds < 20);
    auto repair = actors::repair_allocations(c.store().read(), 2);
    doubled = repair.doubled;
    if (repair.transaction.mutations.empty()) break;
    missing += repair.missing;
    leaked += repair.leaked;
    bool done = false;
    c.store().submit(std::move(repair.transaction),
                     [&](const persistence::outcome& result) { done = result.has_value(); });
    REQUIRE(done);
  }
  CHECK(rounds >= 3);
  CHECK(missing == 4);
  CHECK(leaked == 2);
  CHECK(doubled == 1);
  auto expected = numbers(c);
  expected[actors::address_allocation_key("10.96.0.8")] = "uid-b";
  CHECK(keys(c) == expected);
  // The twin is deleted without releasing the other's number.
  c.remove<Service>("default", "twin");
  CHECK(keys(c) == numbers(c));
  c.remove<Service>("default", "a");
  CHECK(keys(c) == numbers(c));
}

}  // namespace troupe::test
