// Host ports of pods: a machine, two pods with a routed device each, and another machine, each a
// network namespace. This machine's own network is not touched.
#include "actors/network/services/host_ports.hpp"

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "actors/network/defaults.hpp"
#include "actors/network/services/conntrack.hpp"
#include "actors/network/services/nft_table.hpp"
#include "support/network/policy_examples.hpp"
#include "system/network/pod_machine.hpp"
#include "system/network/speaker.hpp"

namespace troupe::test {

using namespace actors::services;
using std::chrono::milliseconds;

namespace {

const std::vector<std::string> pod_1{"10.42.0.11", "fd00:42::11"},
    pod_2{"10.42.0.12", "fd00:42::12"};
constexpr milliseconds unanswered{700};

struct host_port {
  int number;
  std::string protocol = "TCP", host_ip = {};
};

struct published_machine : pod_machine {
  const bool has_v6;
  network_space &first, &second;
  service_table v4{{.service_network = "10.96.0.0/12", .pod_network = "10.42.0.0/16"}};
  // As of a cluster whose services have no IPv6.
  service_table v6{{.service_network = {}, .pod_network = "fd00:42::/56", .family = &family_v6}};

  explicit published_machine(bool two_families = false)
      : has_v6{two_families},
        first{add_pod(pod_1[0], has_v6 ? pod_1[1] : "")},
        second{add_pod(pod_2[0], has_v6 ? pod_2[1] : "")} {
    run(script([](service_table& table) { return table.whole(); }));
  }

  void publish(const std::vector<std::string>& addresses, const std::vector<host_port>& ports) {
    auto pod = pod_body({"default/" + addresses[0], addresses[0]});
    for (const auto& each : ports) {
      auto& made = *pod.mutable_spec()->mutable_containers(0)->add_ports();
      made.set_container_port(8'080);
      made.set_host_port(each.number);
      made.set_protocol(each.protocol);
      made.set_host_ip(each.host_ip);
    }
    run(script([&](service_table& table) {
      table.replace(addresses[0], host_port_elements(pod, addresses, table.family()));
      return table.difference();
    }));
  }

 private:
  template <class F>
  std::string script(F of) {
    auto text = of(v4);
    if (has_v6) text += of(v6);
    return text;
  }
};

}  // namespace

TEST_CASE("a host port is reached from everywhere, and ends with its pod", "[network][services]") {
  if (!can_try_rules()) return;
  published_machine c;
  const speaker one{c.first, "one", SOCK_STREAM}, two{c.second, "two", SOCK_STREAM};
  c.publish(pod_1, {{8'088}});
  c.publish(pod_2, {{8'089}});
  for (const auto* from : {&c.other, &c.machine, &c.first, &c.second}) {
    CHECK(call(*from, "192.0.2.1", 8'088) == "one");
    CHECK(call(*from, "192.0.2.1", 8'089) == "two");
  }
  CHECK(call(c.first, "169.254.1.1", 8'088) == "one");

  INFO("programs of the machine keep the port at its loopback address");
  CHECK(call(c.machine, "127.0.0.1", 8'088) == "refused");

  INFO("another port of the pod");
  c.publish(pod_1, {{8'087}});
  CHECK(call(c.other, "192.0.2.1", 8'087) == "one");
  CHECK(call(c.other, "192.0.2.1", 8'088) == "refused");

  INFO("no pod");
  c.publish(pod_1, {});
  for (const auto* from : {&c.other, &c.machine, &c.first})
    CHECK(call(*from, "192.0.2.1", 8'087) == "refused");
  CHECK(call(c.other, "192.0.2.1", 8'089) == "two");
}

TEST_CASE("pods share a host port by its addresses", "[network][services]") {
  if (!can_try_rules()) return;
  published_machine c;
  sh(c.machine, "ip addr add 192.0.2.7/24 dev wire");
  const speaker one{c.first, "one", SOCK_STREAM}, two{c.second, "two", SOCK_STREAM};
  c.publish(pod_1, {{8'088, "TCP", "127.0.0.1"}, {8'088, "TCP", "192.0.2.9"}});
  c.publish(pod_2, {{8'088, "TCP", "192.0.2.7"}});
  for (const auto* from : {&c.other, &c.machine, &c.first, &c.second}) {
    CHECK(call(*from, "192.0.2.7", 8'088) == "two");
    CHECK(call(*from, "192.0.2.1", 8'088) == "refused");
  }

  INFO("an address that the machine does not have stays that of its owner");
  sh(c.other, "ip addr add 192.0.2.9/24 dev wire");
  CHECK(call(c.machine, "192.0.2.9", 8'088) == "refused");
  CHECK(call(c.second, "192.0.2.9", 8'088) == "refused");

  INFO("a loopback address serves clients of the machine with another address");
  CHECK(call(c.machine, "127.0.0.1", 8'088, unanswered, "192.0.2.1") == "one");
  CHECK(call(c.machine, "127.0.0.1", 8'088, unanswered) == "refused");
}

TEST_CASE("a host port 53 leaves DNS its address", "[network][services]") {
  if (!can_try_rules()) return;
  published_machine c;
  const std::string dns = actors::network_defaults::dns_address;
  sh(c.machine, "ip addr add " + dns + "/32 dev lo");
  const speaker one{c.first, "one", SOCK_STREAM}, server{c.machine, "dns", SOCK_STREAM, dns};
  // The port of all speakers.
  c.publish(pod_1, {{8'080}, {8'080, "TCP", dns}});
  for (const auto* from : {&c.machine, &c.first, &c.second}) {
    CHECK(call(*from, dns, 8'080) == "dns");
    CHECK(call(*from, "192.0.2.1", 8'080) == "one");
  }
}

TEST_CASE("a client of a host port by UDP goes on with the pod that comes next",
          "[network][services]") {
  if (!can_try_rules()) return;
  published_machine c;
  const speaker one{c.first, "one", SOCK_DGRAM}, two{c.second, "two", SOCK_DGRAM};
  const auto remove_stale = [&] {
    c.machine.run([&] { CHECK(remove_stale_connections(c.v4.changed_udp(), family_v4)); });
    c.v4.in_force();
  };
  // One datagram before there is a pod: its connection leads to the machine.
  const udp_client client{c.other, "192.0.2.1", 8'053};
  CHECK(client.call() == "refused");
  c.publish(pod_1, {{8'053, "UDP"}});
  remove_stale();
  CHECK(client.call() == "one");
  c.publish(pod_1, {});
  c.publish(pod_2, {{8'053, "UDP"}});
  remove_stale();
  CHECK(client.call() == "two");
}

TEST_CASE("a host port is reached by IPv6, without services of IPv6", "[network][services]") {
  if (!can_try_ipv6()) return;
  published_machine c{true};
  const speaker one{c.first, "one", SOCK_STREAM, "::"}, two{c.second, "two", SOCK_STREAM, "::"};
  c.publish(pod_1, {{8'088}});
  c.publish(pod_2, {{8'089, "TCP", "2001:db8::1"}});
  for (const auto* from : {&c.other, &c.machine, &c.first, &c.second}) {
    CHECK(call(*from, "2001:db8::1", 8'088) == "one");
    CHECK(call(*from, "192.0.2.1", 8'088) == "one");
    CHECK(call(*from, "2001:db8::1", 8'089) == "two");
    CHECK(call(*from, "192.0.2.1", 8'089) == "refused");
  }
  CHECK(call(c.machine, "::1", 8'088) == "refused");
}

}  // namespace troupe::test
