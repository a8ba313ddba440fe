// Load balancers on nodes: the plan as a function, and the controller in a simulated cluster.
#include <catch2/catch.hpp>

#include "actors/controllers/load_balancers/balancer_plan.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/labels.hpp"
#include "actors/room_log.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/scheme.hpp"
#include "support/cluster.hpp"

namespace troupe::test {

using actors::load_balancers::addresses_condition;
using actors::load_balancers::plan_addresses;
using actors::load_balancers::write_addresses;
using api::core::v1::Node;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;
using addresses = std::vector<std::string>;

namespace {

Service service_body(const std::string& name, int port, std::int64_t made_at) {
  Service body;
  body.mutable_metadata()->set_name(name);
  body.mutable_metadata()->set_namespace_("default");
  body.mutable_metadata()->set_uid("uid-" + name);
  body.mutable_metadata()->mutable_creation_timestamp()->set_seconds(made_at);
  body.mutable_spec()->set_type("LoadBalancer");
  body.mutable_spec()->set_load_balancer_class("troupe.io/nodes");
  auto& declared = *body.mutable_spec()->add_ports();
  declared.set_port(port);
  declared.set_protocol("TCP");
  return body;
}

void add_address(Node& node, const std::string& type, const std::string& address) {
  auto& added = *node.mutable_status()->add_addresses();
  added.set_type(type);
  added.set_address(address);
}

Node node_body(const std::string& name, const std::string& address, bool ready = true) {
  Node body;
  body.mutable_metadata()->set_name(name);
  actors::set_condition(*body.mutable_status()->mutable_conditions(),
                        {"Ready", ready ? "True" : "False"}, runtime::wall_time{});
  add_address(body, "InternalIP", address);
  return body;
}

Service without_class(const std::string& name, int port, std::int64_t made_at) {
  auto body = service_body(name, port, made_at);
  body.mutable_spec()->clear_load_balancer_class();
  return body;
}

void give_address(Service& service, const std::string& address) {
  auto& balancer = *service.mutable_status()->mutable_load_balancer();
  balancer.clear_ingress();
  balancer.add_ingress()->set_ip(address);
}

addresses addresses_of(const Service& service) {
  addresses out;
  for (const auto& each : service.status().load_balancer().ingress())
    out.push_back(each.ip());
  return out;
}

bool has_condition(const Service& service) {
  return actors::find_condition(service.status().conditions(), addresses_condition) != nullptr;
}

template <class T>
api::object_ptr object(const T& body) {
  return std::make_shared<const api::object>(api::kind_of<T>(), std::make_unique<T>(body), 1);
}

}  // namespace

TEST_CASE("nodes that are ready serve a load balancer", "[load_balancers]") {
  auto far = node_body("n4", "192.0.2.4");
  (*far.mutable_metadata()
        ->mutable_labels())["node.kubernetes.io/exclude-from-external-load-balancers"] = "";
  std::vector<api::object_ptr> nodes{object(node_body("n1", "192.0.2.1")),
                                     object(node_body("n2", "192.0.2.2")),
                                     object(node_body("n3", "192.0.2.3", false)), object(far)};
  auto body = service_body("web", 80, 1);
  const auto planned = [&] { return plan_addresses(*object(body), {}, nodes, {}); };
  CHECK(planned().addresses == addresses{"192.0.2.1", "192.0.2.2"});
  SECTION("at their external addresses where one has some") {
    auto outer = node_body("n1", "192.0.2.1");
    add_address(outer, "ExternalIP", "198.51.100.1");
    nodes[0] = object(outer);
    CHECK(planned().addresses == addresses{"198.51.100.1"});
  }
  SECTION("those with an endpoint where its traffic policy is Local") {
    body.mutable_spec()->set_external_traffic_policy("Local");
    CHECK(planned().problem == "no ready node has an endpoint of it");
    EndpointSlice slice;
    slice.add_endpoints()->set_node_name("n2");
    slice.mutable_endpoints(0)->mutable_conditions()->set_ready(true);
    CHECK(plan_addresses(*object(body), {}, nodes, {object(slice)}).addresses ==
          addresses{"192.0.2.2"});
  }
  SECTION("to everybody or not at all") {
    body.mutable_spec()->add_load_balancer_source_ranges("198.51.100.0/24");
    CHECK(planned().addresses.empty());
    CHECK_FALSE(planned().problem.empty());
  }
  SECTION("but not one of another class") {
    body.mutable_spec()->set_load_balancer_class("example.com/cloud");
    CHECK(planned().addresses.empty());
    CHECK(planned().problem.empty());
  }
}

TEST_CASE("a load balancer has addresses of the IP families of its service", "[load_balancers]") {
  auto both = node_body("n1", "192.0.2.1");
  add_address(both, "InternalIP", "2001:db8::1");
  add_address(both, "Hostname", "n1");
  const std::vector<api::object_ptr> nodes{object(both), object(node_body("n2", "192.0.2.2"))};
  auto body = service_body("web", 80, 1);
  const auto planned = [&](const addresses& families) {
    body.mutable_spec()->clear_ip_families();
    for (const auto& family : families)
      body.mutable_spec()->add_ip_families(family);
    return plan_addresses(*object(body), {}, nodes, {});
  };
  CHECK(planned({"IPv4"}).addresses == addresses{"192.0.2.1", "192.0.2.2"});
  CHECK(planned({"IPv6"}).addresses == addresses{"2001:db8::1"});
  CHECK(planned({"IPv4", "IPv6"}).addresses == addresses{"192.0.2.1", "192.0.2.2", "2001:db8::1"});
  CHECK(planned({"IPv6", "IPv4"}).addresses == addresses{"2001:db8::1", "192.0.2.1", "192.0.2.2"});
  CHECK(planned({"IPv6", "IPv4"}).problem.empty());
  SECTION("external ones only of a family that has some") {
    auto outer = both;
    add_address(outer, "ExternalIP", "198.51.100.1");
    const std::vector<api::object_ptr> one{object(outer)};
    CHECK(plan_addresses(*object(body), {}, one, {}).addresses ==
          addresses{"2001:db8::1", "198.51.100.1"});
  }
  SECTION("none if no node has one of its family") {
    planned({"IPv6"});
    const auto plan = plan_addresses(*object(body), {}, {object(node_body("n2", "192.0.2.2"))}, {});
    CHECK(plan.addresses.empty());
    CHECK(plan.problem == "no ready node has an address of its IP families that others can reach");
  }
}

TEST_CASE("a load balancer of two IP families has at most 50 addresses of each",
          "[load_balancers]") {
  std::vector<api::object_ptr> nodes;
  for (int i = 0; i < 120; ++i) {
    auto node = node_body("n" + std::to_string(i), "192.0.2." + std::to_string(i));
    add_address(node, "InternalIP", "2001:db8::" + std::to_string(i + 1));
    nodes.push_back(object(node));
  }
  auto body = service_body("web", 80, 1);
  for (const auto* family : {"IPv4", "IPv6"})
    body.mutable_spec()->add_ip_families(family);
  const auto plan = plan_addresses(*object(body), {}, nodes, {});
  REQUIRE(plan.addresses.size() == actors::load_balancers::most_addresses);
  CHECK(plan.addresses[49].starts_with("192.0.2."));
  CHECK(plan.addresses[50].starts_with("2001:db8::"));
}

TEST_CASE("of two load balancers with one port the older one has it", "[load_balancers]") {
  const std::vector<api::object_ptr> nodes{object(node_body("n1", "192.0.2.1"))};
  const auto older = object(service_body("older", 80, 1)),
             newer = object(service_body("newer", 80, 2)),
             other = object(service_body("other", 81, 3));
  const std::vector<api::object_ptr> all{newer, older, other};
  CHECK(plan_addresses(*older, all, nodes, {}).addresses == addresses{"192.0.2.1"});
  CHECK(plan_addresses(*other, all, nodes, {}).addresses == addresses{"192.0.2.1"});
  const auto refused = plan_addresses(*newer, all, nodes, {});
  CHECK(refused.addresses.empty());
  CHECK(refused.problem == "a port of it is taken on the nodes by service default/older");
}

TEST_CASE("a service that no node serves takes no port from a newer one", "[load_balancers]") {
  const std::vector<api::object_ptr> nodes{object(node_body("n1", "192.0.2.1"))};
  auto older = without_class("older", 80, 1);
  const auto newer = object(service_body("newer", 80, 2));
  const auto is_served = [&](bool default_class) {
    return !plan_addresses(*newer, {object(older), newer}, nodes, {},
                           {.default_class = default_class})
                .addresses.empty();
  };
  CHECK_FALSE(is_served(true));
  CHECK(is_served(false));
  SECTION("because of its source ranges") {
    older.mutable_spec()->add_load_balancer_source_ranges("198.51.100.0/24");
    CHECK(is_served(true));
  }
  SECTION("because another program serves it") {
    give_address(older, "203.0.113.7");
    CHECK(is_served(true));
  }
}

TEST_CASE("a service with a port of a machine's program is not served, and takes no port",
          "[load_balancers]") {
  const std::vector<api::object_ptr> nodes{object(node_body("n1", "192.0.2.1"))};
  auto older = service_body("older", 80, 1);
  older.mutable_spec()->add_ports()->set_port(6443);
  const auto newer = object(service_body("newer", 80, 2));
  const auto plan = [&](const api::object_ptr& of) {
    return plan_addresses(*of, {object(older), newer}, nodes, {}, {.reserved_ports = {22, 6443}});
  };
  CHECK(plan(object(older)).addresses.empty());
  CHECK(plan(object(older)).problem ==
        "port 6443 is reserved for programs of the machines (network.reservedPorts)");
  CHECK(plan(newer).addresses == addresses{"192.0.2.1"});
}

TEST_CASE("a load balancer has no address of a node at which others do not reach it",
          "[load_balancers]") {
  auto ruleless = node_body("n2", "192.0.2.2");
  (*ruleless.mutable_metadata()->mutable_labels())[actors::no_service_rules] = "true";
  const auto body = object(without_class("web", 80, 1));
  const auto planned = [&](const Node& node) {
    return plan_addresses(*body, {}, {object(node)}, {});
  };
  CHECK(planned(ruleless).problem == "no ready node has rules for Services");
  CHECK(planned(node_body("n1", "127.0.0.1")).addresses.empty());
  CHECK(planned(node_body("n1", "192.0.2.1")).addresses == addresses{"192.0.2.1"});
}

TEST_CASE("nodes serve a load balancer without a class unless another program does",
          "[load_balancers]") {
  const std::vector<api::object_ptr> nodes{object(node_body("n1", "192.0.2.1"))};
  auto body = without_class("web", 80, 1);
  const auto planned = [&](bool default_class = true) {
    return plan_addresses(*object(body), {}, nodes, {}, {.default_class = default_class}).addresses;
  };
  CHECK(planned() == addresses{"192.0.2.1"});
  CHECK(planned(false).empty());
  SECTION("whose address stays") {
    give_address(body, "203.0.113.7");
    CHECK(planned().empty());
    write_addresses(body, {}, {});
    CHECK(addresses_of(body) == addresses{"203.0.113.7"});
  }
  SECTION("whose address replaces that of a node") {
    write_addresses(body, {"192.0.2.9"}, {});
    CHECK(planned() == addresses{"192.0.2.1"});
    give_address(body, "203.0.113.7");
    CHECK(planned().empty());
    write_addresses(body, {}, {});
    CHECK(addresses_of(body) == addresses{"203.0.113.7"});
    CHECK_FALSE(has_condition(body));
  }
  SECTION("which does not matter to one of the nodes' class") {
    body = service_body("web", 80, 1);
    give_address(body, "203.0.113.7");
    CHECK(planned(false) == addresses{"192.0.2.1"});
    write_addresses(body, {}, {});
    CHECK(addresses_of(body).empty());
  }
}

TEST_CASE("a service that is no longer a load balancer loses all its addresses",
          "[load_balancers]") {
  auto body = without_class("web", 80, 1);
  write_addresses(body, {"192.0.2.1", "192.0.2.2"}, {});
  CHECK(has_condition(body));
  body.mutable_spec()->set_type("NodePort");
  const bool is_foreign = GENERATE(false, true);
  if (is_foreign) give_address(body, "203.0.113.7");
  write_addresses(body, {}, {});
  CHECK(addresses_of(body).empty());
  CHECK_FALSE(has_condition(body));
}

namespace {

struct served_cluster {
  explicit served_cluster(bool default_class = true)
      : c{1, {.plane = {.default_load_balancer = default_class, .reserved_ports = {6443}}}} {
    const auto node = node_body("n1", "192.0.2.1");
    c.create(node);
    c.change<Node>("", "n1", [&](Node& now) { *now.mutable_status() = node.status(); });
  }
  void create(Service body) {
    body.mutable_metadata()->clear_uid();
    c.create(body);
  }
  addresses served() const { return addresses_of(c.get<Service>("default", "web")); }
  bool becomes(const addresses& expected) {
    return c.run_until([&] { return served() == expected; });
  }
  void change(const std::function<void(Service&)>& edit) {
    c.change<Service>("default", "web", edit);
  }

  cluster c;
};

}  // namespace

TEST_CASE("a service of the nodes' class or without one gets the addresses of the nodes",
          "[load_balancers]") {
  served_cluster s;
  s.create(GENERATE(true, false) ? service_body("web", 80, 0) : without_class("web", 80, 0));
  CHECK(s.becomes({"192.0.2.1"}));
  s.c.change<Node>("", "n1", [&](Node& now) {
    now.mutable_status()->mutable_addresses(0)->set_address("192.0.2.9");
  });
  CHECK(s.becomes({"192.0.2.9"}));
}

TEST_CASE("the log says how many addresses a load balancer gets, and once why it gets none",
          "[load_balancers]") {
  const room_log log;
  served_cluster s;
  s.create(service_body("web", 80, 0));
  REQUIRE(s.becomes({"192.0.2.1"}));
  CHECK(log.count("info service-controller /registry/services/default/web at revision ") == 1);
  CHECK(log.count(" gets 1 addresses") == 1);
  s.c.advance(std::chrono::seconds{2});
  s.create(service_body("late", 80, 0));
  s.create(service_body("api", 6443, 0));
  s.c.advance(std::chrono::seconds{15});
  CHECK(log.count(" gets no addresses: port 6443 is reserved for programs of the machines") == 1);
  CHECK(log.count(
            " gets no addresses: a port of it is taken on the nodes by service default/web") == 1);
}

TEST_CASE(
    "addresses that another program gives to a service without a class stay until they are "
    "removed",
    "[load_balancers]") {
  served_cluster s;
  s.create(without_class("web", 80, 0));
  REQUIRE(s.becomes({"192.0.2.1"}));
  s.change([](Service& now) { give_address(now, "203.0.113.7"); });
  CHECK(s.c.run_until([&] { return !has_condition(s.c.get<Service>("default", "web")); }));
  CHECK(s.served() == addresses{"203.0.113.7"});
  s.change([](Service& now) { now.mutable_status()->clear_load_balancer(); });
  CHECK(s.becomes({"192.0.2.1"}));
}

TEST_CASE("once load balancers are limited to the nodes' class, others lose the nodes' addresses",
          "[load_balancers]") {
  served_cluster s{false};
  s.create(without_class("web", 80, 0));
  s.c.settle();
  CHECK(s.served().empty());
  // As an earlier control plane has left it.
  s.change([](Service& now) { write_addresses(now, {"192.0.2.1"}, {}); });
  CHECK(s.becomes({}));
  CHECK_FALSE(has_condition(s.c.get<Service>("default", "web")));
  s.change([](Service& now) { give_address(now, "203.0.113.7"); });
  s.c.settle();
  CHECK(s.served() == addresses{"203.0.113.7"});
}

}  // namespace troupe::test
