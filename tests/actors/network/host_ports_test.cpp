// Host ports as elements of the table of services, and their text for nft.
#include "actors/network/services/host_ports.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "actors/network/services/nft_table.hpp"
#include "support/network/policy_examples.hpp"

namespace troupe::test {

using namespace actors::services;
using api::core::v1::Container;
using api::core::v1::Pod;
using Catch::Matchers::Contains;

namespace {

void publish(Container& container, int port, const std::string& protocol = "TCP",
             const std::string& host_ip = {}) {
  auto& made = *container.add_ports();
  made.set_container_port(8'080);
  made.set_host_port(port);
  made.set_protocol(protocol);
  made.set_host_ip(host_ip);
}

Pod web_with_ports(const std::vector<std::string>& host_ips = {""}) {
  auto pod = pod_body({"default/web", "10.42.0.5"});
  for (const auto& each : host_ips)
    publish(*pod.mutable_spec()->mutable_containers(0), 8'088, "TCP", each);
  return pod;
}

elements of_v4(const Pod& pod) {
  return host_port_elements(pod, own_addresses_of(pod), family_v4);
}

const elements open_8088{{{"node-ports", "tcp . 8088"}, "goto node-local-1"},
                         {{"node-endpoints", "tcp . 8088 . 0"}, "10.42.0.5 . 8080"},
                         {{"hairpin", "10.42.0.5 . 10.42.0.5"}, ""}};

}  // namespace

TEST_CASE("a host port leads to its pod like a node port with one endpoint", "[services]") {
  CHECK(of_v4(web_with_ports()) == open_8088);
  CHECK(of_v4(web_with_ports({"0.0.0.0"})) == open_8088);
  CHECK(of_v4(web_with_ports({"::"})).empty());
  CHECK(of_v4(pod_body({"default/web", "10.42.0.5", {}, {{"http", 8'080}}})).empty());
}

TEST_CASE("a host port of one address is open there alone", "[services]") {
  const elements wanted{{{"host-ports", "192.0.2.1 . tcp . 8088"}, "goto pick-1"},
                        {{"endpoints", "192.0.2.1 . tcp . 8088 . 0"}, "10.42.0.5 . 8080"},
                        {{"hairpin", "10.42.0.5 . 10.42.0.5"}, ""}};
  CHECK(of_v4(web_with_ports({"192.0.2.1"})) == wanted);
  CHECK(of_v4(web_with_ports({"2001:db8::1"})).empty());
  CHECK(of_v4(web_with_ports({"192.0.2.1; flush ruleset"})).empty());
}

TEST_CASE("host ports are those of containers and sidecars, of every protocol", "[services]") {
  auto pod = web_with_ports();
  publish(*pod.mutable_spec()->mutable_containers(0), 53, "UDP");
  publish(*pod.mutable_spec()->add_init_containers(), 8'089);
  auto& sidecar = *pod.mutable_spec()->add_init_containers();
  sidecar.set_restart_policy("Always");
  publish(sidecar, 8'090, "SCTP");
  const auto made = of_v4(pod);
  CHECK(made.contains({"node-ports", "udp . 53"}));
  CHECK(made.contains({"node-ports", "sctp . 8090"}));
  CHECK_FALSE(made.contains({"node-ports", "tcp . 8089"}));
}

TEST_CASE("a pod without a network of its own, or that has ended, has no host ports",
          "[services]") {
  auto shares_network = web_with_ports();
  shares_network.mutable_spec()->set_host_network(true);
  CHECK_FALSE(has_host_ports(shares_network));
  CHECK(of_v4(shares_network).empty());

  auto ended = web_with_ports();
  ended.mutable_status()->set_phase("Succeeded");
  CHECK_FALSE(has_host_ports(ended));

  INFO("as with the runtime `process`, on a node with two addresses");
  auto process = web_with_ports();
  auto& status = *process.mutable_status();
  status.set_pod_ip("192.0.2.1");
  for (const auto* each : {"192.0.2.1", "2001:db8::1"}) {
    status.add_host_ips()->set_ip(each);
    status.add_pod_ips()->set_ip(each);
  }
  CHECK(own_addresses_of(process).empty());
}

TEST_CASE("a pod of two families has its host ports in both tables", "[services]") {
  auto pod = web_with_ports({"", "::"});
  pod.mutable_spec()->mutable_containers(0)->mutable_ports(1)->set_host_port(8'443);
  for (const auto* each : {"10.42.0.5", "fd00:42::0:5"})
    pod.mutable_status()->add_pod_ips()->set_ip(each);
  CHECK(of_v4(pod) == open_8088);
  const auto v6 = host_port_elements(pod, own_addresses_of(pod), family_v6);
  CHECK(v6.at({"node-endpoints", "tcp . 8088 . 0"}) == "fd00:42::5 . 8080");
  CHECK(v6.at({"node-endpoints", "tcp . 8443 . 0"}) == "fd00:42::5 . 8080");
}

TEST_CASE("host ports come and go as differences, and are UDP destinations too", "[services]") {
  service_table table{{.service_network = "10.96.0.0/12"}};
  table.whole();
  auto pod = web_with_ports();
  publish(*pod.mutable_spec()->mutable_containers(0), 53, "UDP");
  table.replace("pod", of_v4(pod));
  const auto added = table.difference();
  CHECK_THAT(added, !Contains("chain") && Contains("tcp . 8088 : goto node-local-1"));
  CHECK(table.changed_udp() == udp_endpoints{{"udp . 53", {"10.42.0.5 . 8080"}}});
  table.in_force();
  table.replace("pod", {});
  const auto removed = table.difference();
  CHECK_THAT(removed, !Contains("add element") &&
                          Contains("delete element ip troupe node-ports { tcp . 8088, udp . 53 }"));
  CHECK(table.changed_udp() == udp_endpoints{{"udp . 53", {}}});
  CHECK(table.size() == 0);
}

TEST_CASE("no host port takes the address of DNS or a loopback address", "[services]") {
  service_table v4{{.service_network = "10.96.0.0/12"}};
  CHECK_THAT(v4.whole(),
             Contains("fib daddr type local ip daddr != { 127.0.0.0/8, 10.96.0.10, 10.96.0.1 } "
                      "goto own-ports\n"));
  service_table v6{{.service_network = {}, .family = &family_v6}};
  const auto text = v6.whole();
  CHECK_THAT(text, Contains("fib daddr type local ip6 daddr != ::1 goto own-ports\n"));
  CHECK_THAT(text, !Contains("daddr  drop"));
}

}  // namespace troupe::test
