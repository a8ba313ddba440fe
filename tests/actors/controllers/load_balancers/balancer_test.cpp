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

Node node_body(const std::string& name, const std::string& address, bool ready = true) {
  Node body;
  body.mutable_metadata()->set_name(name);
  actors::set_condition(*body.mutable_status()->mutable_conditions(),
                        {"Ready", ready ? "True" : "False"}, runtime::wall_time{});
  auto& at = *body.mutable_status()->add_addresses();
  at.set_type("InternalIP");
  at.set_address(address);
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
    auto& at = *outer.mutable_status()->add_addresses();
    at.set_type("ExternalIP");
    at.set_address("198.51.100.1");
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
