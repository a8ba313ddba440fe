// Load balancers on nodes: the plan as a function, and the controller in a simulated cluster.
#include <catch2/catch.hpp>

#include "actors/controllers/load_balancers/balancer_plan.hpp"
#include "actors/core/condition.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/scheme.hpp"
#include "support/cluster.hpp"

namespace troupe::test {

using actors::load_balancers::plan_addresses;
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
    CHECK(plan.problem == "no ready node has an address of its IP families");
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

TEST_CASE("a service that asks for it gets the addresses of the nodes", "[load_balancers]") {
  cluster c{1};
  const auto node = node_body("n1", "192.0.2.1");
  c.create(node);
  c.change<Node>("", "n1", [&](Node& now) { *now.mutable_status() = node.status(); });
  auto body = service_body("web", 80, 0);
  body.mutable_metadata()->clear_uid();
  c.create(body);
  const auto served = [&] {
    const auto found = c.find<Service>("default", "web");
    addresses out;
    for (const auto& each : found->as<Service>().status().load_balancer().ingress())
      out.push_back(each.ip());
    return out;
  };
  CHECK(c.run_until([&] { return served() == addresses{"192.0.2.1"}; }));
  c.change<Node>("", "n1", [&](Node& now) {
    now.mutable_status()->mutable_addresses(0)->set_address("192.0.2.9");
  });
  CHECK(c.run_until([&] { return served() == addresses{"192.0.2.9"}; }));
}

}  // namespace troupe::test
