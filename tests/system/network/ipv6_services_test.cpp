// Connections to services with addresses of both families, between a machine, two pods and another
// machine, each in its own network namespace.
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "actors/network/services/conntrack.hpp"
#include "actors/network/services/nft_table.hpp"
#include "actors/network/services/service_elements.hpp"
#include "support/network/service_examples.hpp"
#include "system/network/pod_machine.hpp"
#include "system/network/speaker.hpp"

namespace troupe::test {

using namespace actors::services;
using std::chrono::milliseconds;
using names = std::set<std::string>;

namespace {

const std::vector<std::string> pods_v4{"10.42.0.11", "10.42.0.12"},
    pods_v6{"fd00:42::11", "fd00:42::12"};
const std::string service_v4 = "10.96.0.100", service_v6 = "fd00:10:96::100";
constexpr milliseconds dropped_after{700};

names heard_often(const network_space& from, const std::string& host, int port) {
  names out;
  for (int i = 0; i < 16; ++i)
    out.insert(call(from, host, port));
  return out;
}

struct dual_machine : pod_machine {
  network_space &pod_1 = add_pod(pods_v4[0], pods_v6[0]), &pod_2 = add_pod(pods_v4[1], pods_v6[1]);
  speaker first{pod_1, "one", SOCK_STREAM, "::"}, second{pod_2, "two", SOCK_STREAM, "::"};
  service_table v4{{.service_network = "10.96.0.0/12", .pod_network = "10.42.0.0/16"}};
  service_table v6{
      {.service_network = "fd00:10:96::/112", .pod_network = "fd00:42::/56", .family = &family_v6}};

  void replace(const std::string& name, const api::core::v1::Service& body,
               std::size_t endpoints = 2) {
    std::vector<endpoint_example> of_v4, of_v6;
    for (std::size_t i = 0; i < endpoints; ++i) {
      of_v4.push_back({.address = pods_v4[i]});
      of_v6.push_back({.address = pods_v6[i]});
    }
    auto slice_v4 = slice_body("web", {{"", 8'080}}, of_v4);
    auto slice_v6 = slice_body("web", {{"", 8'080}}, of_v6);
    slice_v6.set_address_type("IPv6");
    for (auto* slice : {&slice_v4, &slice_v6})
      slice->mutable_ports(0)->set_protocol(body.spec().ports(0).protocol());
    const std::vector slices{object_of(slice_v4), object_of(slice_v6)};
    v4.replace(name, elements_of(*object_of(body), slices, {"node"}, family_v4));
    v6.replace(name, elements_of(*object_of(body), slices, {"node"}, family_v6));
  }
};

api::core::v1::Service dual_service(const std::string& protocol = "TCP") {
  auto body = service_body("web", service_v4, {{"", 80}});
  auto& spec = *body.mutable_spec();
  spec.add_cluster_ips(service_v6);
  spec.set_type("NodePort");
  spec.mutable_ports(0)->set_node_port(30'080);
  spec.mutable_ports(0)->set_protocol(protocol);
  return body;
}

}  // namespace

TEST_CASE("a service with two families is reached by both", "[network][services]") {
  if (!can_try_ipv6()) return;
  dual_machine c;
  c.replace("a", dual_service());
  c.run(c.v4.whole() + c.v6.whole());
  const names both{"one", "two"};
  SECTION("from a pod, itself included, and from the machine") {
    for (const auto* from : {&c.pod_1, &c.machine}) {
      CHECK(heard_often(*from, service_v6, 80) == both);
      CHECK(heard_often(*from, service_v4, 80) == both);
    }
  }
  SECTION("by its node port from elsewhere, from pods and from the machine itself") {
    for (const auto* from : {&c.other, &c.pod_1, &c.machine})
      CHECK(heard_often(*from, "2001:db8::1", 30'080) == both);
    CHECK(heard_often(c.other, "192.0.2.1", 30'080) == both);
  }
  SECTION("and is refused or dropped where there is none") {
    CHECK(call(c.machine, service_v6, 81) == "refused");
    CHECK(call(c.pod_1, "fd00:10:96::9", 80, dropped_after) == "dropped");
    c.replace("a", dual_service(), 0);
    c.run(c.v4.difference() + c.v6.difference());
    for (const auto* from : {&c.pod_1, &c.machine})
      CHECK(call(*from, service_v6, 80) == "refused");
  }
  SECTION("and by one only when it has given up the other") {
    auto body = dual_service();
    body.mutable_spec()->mutable_cluster_ips()->RemoveLast();
    c.replace("a", body);
    c.run(c.v4.difference() + c.v6.difference());
    CHECK(call(c.machine, service_v6, 80, dropped_after) == "dropped");
    CHECK(heard_often(c.machine, service_v4, 80) == both);
    CHECK(call(c.other, "2001:db8::1", 30'080) == "refused");
  }
}

TEST_CASE("session affinity holds for clients of IPv6", "[network][services]") {
  if (!can_try_ipv6()) return;
  dual_machine c;
  auto body = dual_service();
  body.mutable_spec()->set_session_affinity("ClientIP");
  c.replace("a", body);
  c.run(c.v6.whole());
  for (const auto* from : {&c.pod_1, &c.machine})
    CHECK(heard_often(*from, service_v6, 80).size() == 1);
  CHECK(heard_often(c.other, "2001:db8::1", 30'080).size() == 1);
}

TEST_CASE("a client by UDP and IPv6 goes on with another endpoint when its own has gone",
          "[network][services]") {
  if (!can_try_ipv6()) return;
  dual_machine c;
  const speaker answers{c.pod_1, "one", SOCK_DGRAM, "::"};
  c.replace("a", dual_service("UDP"), 1);
  c.run(c.v6.whole());
  const udp_client client{c.machine, service_v6, 80};
  CHECK(client.call() == "one");
  const auto removed = [&] {
    std::size_t count = 0;
    c.machine.run([&] { count = remove_stale_connections(c.v6.changed_udp(), family_v6).value(); });
    return count;
  };
  CHECK(removed() == 0);
  c.v6.in_force();
  c.replace("a", dual_service("UDP"), 0);
  c.run(c.v6.difference());
  CHECK(removed() == 1);
  CHECK(client.call() == "refused");
}

}  // namespace troupe::test
