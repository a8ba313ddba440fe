// The rules of services: a machine, two pods with a routed device each as the CNI plugin
// ptp makes them, and another machine, each a network namespace. This machine's own
// network is not touched.
#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/network/nft/rule_monitor.hpp"
#include "actors/network/services/conntrack.hpp"
#include "actors/network/services/nft_process.hpp"
#include "actors/network/services/nft_table.hpp"
#include "actors/network/services/service_counts.hpp"
#include "actors/network/services/service_elements.hpp"
#include "support/network/service_examples.hpp"
#include "support/programs/eventually.hpp"
#include "system/network/pod_machine.hpp"
#include "system/network/speaker.hpp"

namespace troupe::test {

using namespace actors::services;
using std::chrono::milliseconds;

namespace {

const std::string pod_1_address = "10.42.0.11", pod_2_address = "10.42.0.12";

// How long to wait for a packet that is dropped.
constexpr milliseconds dropped_after{700};

std::set<std::string> heard_often(const network_space& from, const std::string& host, int port) {
  std::set<std::string> out;
  for (int i = 0; i < 16; ++i)
    out.insert(call(from, host, port));
  return out;
}

struct machine_with_pods : pod_machine {
  network_space &pod_1 = add_pod(pod_1_address), &pod_2 = add_pod(pod_2_address);
  speaker first{pod_1, "one", SOCK_STREAM}, second{pod_2, "two", SOCK_STREAM};
  service_table table{{.service_network = "10.96.0.0/12", .pod_network = "10.42.0.0/16"}};
};

elements service(const std::string& address, const std::string& chain,
                 const std::vector<std::string>& pods) {
  elements out{{{"cluster-ips", address}, ""}};
  const auto key = address + " . tcp . 80";
  if (pods.empty()) {
    out[{"refused", key}] = "goto refuse";
    return out;
  }
  out[{"service-ports", key}] = "goto " + chain + "-" + std::to_string(pods.size());
  for (std::size_t i = 0; i < pods.size(); ++i) {
    out[{"endpoints", key + " . " + std::to_string(i)}] = pods[i] + " . 8080";
    out[{"hairpin", pods[i] + " . " + pods[i]}] = {};
  }
  return out;
}

// What the node makes of a service with a node port and session affinity.
elements sticky_service(const std::vector<std::string>& pods, int timeout_s) {
  auto body = service_body("web", "10.96.0.100", {{"", 80}});
  auto& spec = *body.mutable_spec();
  spec.set_type("NodePort");
  spec.mutable_ports(0)->set_node_port(30'080);
  spec.set_session_affinity("ClientIP");
  spec.mutable_session_affinity_config()->mutable_client_ip()->set_timeout_seconds(timeout_s);
  std::vector<endpoint_example> endpoints;
  for (const auto& pod : pods)
    endpoints.push_back({.address = pod});
  return elements_of(*object_of(body), {slice_object("web", {{"", 8'080}}, endpoints)}, {"node"},
                     family_v4);
}

using names = std::set<std::string>;

}  // namespace

TEST_CASE("connections to services reach their endpoints", "[network][services]") {
  if (!can_try_rules()) return;
  machine_with_pods c;
  c.table.replace("a", service("10.96.0.100", "pick", {pod_1_address, pod_2_address}));
  c.table.replace("c", service("10.96.0.102", "pick", {}));
  c.table.replace("d", {{{"node-ports", "tcp . 30080"}, "goto node-pick-2"},
                        {{"node-endpoints", "tcp . 30080 . 0"}, "10.42.0.11 . 8080"},
                        {{"node-endpoints", "tcp . 30080 . 1"}, "10.42.0.12 . 8080"},
                        {{"node-refused", "tcp . 30081"}, "drop"},
                        {{"node-refused", "tcp . 30082"}, "goto refuse"}});
  c.run(c.table.whole());
  const names both{"one", "two"};
  SECTION("from a pod, itself included, and from the machine") {
    CHECK(heard_often(c.pod_1, "10.96.0.100", 80) == both);
    CHECK(heard_often(c.machine, "10.96.0.100", 80) == both);
  }
  SECTION("by a node port from elsewhere, from pods and from the machine itself") {
    CHECK(heard_often(c.other, "192.0.2.1", 30'080) == both);
    CHECK(heard_often(c.pod_1, "192.0.2.1", 30'080) == both);
    CHECK(heard_often(c.machine, "192.0.2.1", 30'080) == both);
  }
  SECTION("and are refused or dropped where there is none") {
    for (const auto* from : {&c.pod_1, &c.machine}) {
      CHECK(call(*from, "10.96.0.102", 80) == "refused");
      CHECK(call(*from, "10.96.0.100", 81) == "refused");
      CHECK(call(*from, "10.96.9.9", 80, dropped_after) == "dropped");
    }
    CHECK(call(c.other, "192.0.2.1", 30'081, dropped_after) == "dropped");
    CHECK(call(c.other, "192.0.2.1", 30'082) == "refused");
  }
}

TEST_CASE("connections to a service are counted, and again when its endpoints have changed",
          "[network][services]") {
  if (!can_try_rules()) return;
  machine_with_pods c;
  const auto counted = [&c](const elements& of) {
    connection_counts counts;
    c.machine.run([&] { counts = read_counts({*find_nft()}, of, family_v4); });
    return counts;
  };
  const element_key port{"service-ports", "10.96.0.100 . tcp . 80"};
  auto web = service("10.96.0.100", "pick", {pod_1_address});
  CHECK(counted(web).empty());
  c.table.replace("a", web);
  c.run(c.table.whole());
  for (int i = 0; i < 3; ++i)
    CHECK(call(c.machine, "10.96.0.100", 80) == "one");
  CHECK(counted(web) == connection_counts{{port, 3}});
  web = service("10.96.0.100", "pick", {pod_1_address, pod_2_address});
  c.table.replace("a", web);
  c.run(c.table.difference());
  CHECK(counted(web) == connection_counts{{port, 0}});
}

TEST_CASE("a service whose endpoint is a loopback address leads no pod to the machine's programs",
          "[network][services]") {
  if (!can_try_rules()) return;
  machine_with_pods c;
  const speaker local{c.machine, "local", SOCK_STREAM, "127.0.0.1"};
  // As the plugin portmap of another network does it for a pod with host ports.
  sh(c.machine, "echo 1 > /proc/sys/net/ipv4/conf/veth1/route_localnet");
  c.table.replace("a", service("10.96.0.100", "pick", {"127.0.0.1"}));
  c.table.replace("b", service("10.96.0.101", "pick", {pod_1_address}));
  c.run(c.table.whole());
  CHECK(call(c.machine, "10.96.0.100", 80) == "local");
  CHECK(call(c.pod_1, "10.96.0.100", 80, dropped_after) == "dropped");
  // Answers of the pod to the machine's loopback address pass.
  sh(c.machine, "echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet");
  c.run(
      "add table ip ports\nadd chain ip ports output { type nat hook output priority -101; }\n"
      "add chain ip ports postrouting { type nat hook postrouting priority 101; }\n"
      "add rule ip ports output ip daddr 127.0.0.1 tcp dport 81 dnat to 10.42.0.11:8080\n"
      "add rule ip ports postrouting ip saddr 127.0.0.1 ip daddr 10.42.0.11 masquerade\n");
  CHECK(call(c.machine, "127.0.0.1", 81) == "one");
  c.run("flush chain ip troupe filter-input\n");
  CHECK(call(c.pod_1, "10.96.0.100", 80) == "local");
}

TEST_CASE("a change of a service changes the rules and nothing of others", "[network][services]") {
  if (!can_try_rules()) return;
  machine_with_pods c;
  c.run("add table ip others\nadd chain ip others mine\n");
  c.run(c.table.whole());
  c.table.replace("a", service("10.96.0.100", "pick", {pod_1_address, pod_2_address}));
  c.run(c.table.difference());
  CHECK(heard_often(c.machine, "10.96.0.100", 80) == names{"one", "two"});
  c.table.replace("a", service("10.96.0.100", "pick", {pod_2_address}));
  c.run(c.table.difference());
  CHECK(heard_often(c.machine, "10.96.0.100", 80) == names{"two"});
  c.table.replace("a", {});
  c.run(c.table.difference());
  CHECK(call(c.machine, "10.96.0.100", 80, dropped_after) == "dropped");
  c.run(c.table.whole());
  c.run(no_table(family_v4));
  c.run("list chain ip others mine\n");
}

TEST_CASE(
    "a client of a service with session affinity stays with its endpoint until its time is over",
    "[network][services]") {
  if (!can_try_rules()) return;
  machine_with_pods c;
  const auto put = [&](const std::vector<std::string>& pods, int timeout_s) {
    c.table.replace("a", sticky_service(pods, timeout_s));
  };
  put({pod_1_address, pod_2_address}, 3'600);
  c.run(c.table.whole());
  const auto of_machine = heard_often(c.machine, "10.96.0.100", 80);
  REQUIRE(of_machine.size() == 1);
  CHECK(heard_often(c.pod_1, "10.96.0.100", 80).size() == 1);
  SECTION("by a node port, which shares what the service remembers") {
    CHECK(heard_often(c.other, "192.0.2.1", 30'080).size() == 1);
    CHECK(heard_often(c.machine, "192.0.2.1", 30'080).size() == 1);
  }
  const auto own = *of_machine.begin() == "one" ? pod_1_address : pod_2_address;
  const auto another = own == pod_1_address ? pod_2_address : pod_1_address;
  SECTION("while other endpoints come and go") {
    put({own}, 3'600);
    c.run(c.table.difference());
    CHECK(heard_often(c.machine, "10.96.0.100", 80) == of_machine);
    put({pod_1_address, pod_2_address}, 3'600);
    c.run(c.table.difference());
    CHECK(heard_often(c.machine, "10.96.0.100", 80) == of_machine);
  }
  SECTION("and goes to another when its own has gone, where it stays") {
    put({another}, 3'600);
    c.run(c.table.difference());
    const auto now = heard_often(c.machine, "10.96.0.100", 80);
    CHECK(now != of_machine);
    put({pod_1_address, pod_2_address}, 3'600);
    c.run(c.table.difference());
    CHECK(heard_often(c.machine, "10.96.0.100", 80) == now);
  }
  SECTION("and is spread again after it") {
    put({pod_1_address, pod_2_address}, 1);
    c.run(c.table.difference());
    const auto is_forgotten = [&] {
      for (const auto& pod : {pod_1_address, pod_2_address})
        if (c.listed("list set ip troupe clients/10.96.0.100/tcp/80/" + pod + "/8080")
                .find("192.0.2.1") != std::string::npos)
          return false;
      return true;
    };
    // Each call renews the memory, the first one with the new time.
    names heard;
    CHECK(eventually([&] {
      heard.insert(call(c.machine, "10.96.0.100", 80));
      return heard.size() == 2 || !eventually(is_forgotten);
    }));
    CHECK(heard.size() == 2);
  }
  SECTION("and nothing is left of it with the service") {
    c.table.replace("a", {});
    c.run(c.table.difference());
    CHECK(c.listed("list table ip troupe").find("10.96.0.100") == std::string::npos);
  }
}

TEST_CASE("a client by UDP goes on with another endpoint when its own has gone",
          "[network][services]") {
  if (!can_try_rules()) return;
  machine_with_pods c;
  const speaker first{c.pod_1, "one", SOCK_DGRAM}, second{c.pod_2, "two", SOCK_DGRAM};
  const auto put = [&](const std::string& address, const std::string& pod) {
    c.table.replace(address, {{{"cluster-ips", address}, ""},
                              {{"service-ports", address + " . udp . 80"}, "goto pick-1"},
                              {{"endpoints", address + " . udp . 80 . 0"}, pod + " . 8080"}});
  };
  const auto removed = [&] {
    std::size_t count = 0;
    c.machine.run(
        [&] { count = remove_stale_connections(c.table.changed_udp(), family_v4).value(); });
    return count;
  };
  put("10.96.0.100", pod_1_address);
  put("10.96.0.101", pod_1_address);
  c.run(c.table.whole());
  const udp_client changing{c.machine, "10.96.0.100", 80}, staying{c.machine, "10.96.0.101", 80};
  CHECK(changing.call() == "one");
  CHECK(staying.call() == "one");
  CHECK(removed() == 0);
  c.table.in_force();
  put("10.96.0.100", pod_2_address);
  c.run(c.table.difference());
  CHECK(changing.call() == "one");  // the kernel keeps the endpoint
  CHECK(removed() == 1);
  CHECK(changing.call() == "two");
  CHECK(staying.call() == "one");
}

TEST_CASE("a script with a mistake changes nothing and says where", "[network][services]") {
  if (!can_try_rules()) return;
  machine_with_pods c;
  c.table.replace("a", service("10.96.0.100", "pick", {pod_1_address}));
  c.run(c.table.whole());
  c.machine.run([&] {
    const auto ran =
        run_nft({*find_nft()}, no_table(family_v4) + "add nonsense\n", milliseconds{60'000});
    REQUIRE_FALSE(ran);
    CHECK(ran.error().starts_with("nft: "));
  });
  CHECK(call(c.machine, "10.96.0.100", 80) == "one");
}

TEST_CASE("what another program removes of a table is heard, and nothing that we remove",
          "[network][services]") {
  if (!can_try_rules()) return;
  machine_with_pods c;
  std::unique_ptr<actors::nft::rule_monitor> monitor;
  c.machine.run([&] { monitor = actors::nft::rule_monitor::start().value(); });
  std::atomic<int> ours = 0, of_policies = 0;
  monitor->watch("ip troupe", [&] { ++ours; });
  monitor->watch("ip troupe-policy", [&] { ++of_policies; });
  const auto run_own = [&](const std::string& script) {
    c.machine.run([&] {
      REQUIRE(monitor->run({"ip troupe"}, [&](pid_t& process) {
        return run_nft({*find_nft()}, script, milliseconds{60'000}, &process);
      }));
    });
  };
  c.table.replace("a", service("10.96.0.100", "pick", {pod_1_address}));
  run_own(c.table.whole());
  run_own(c.table.whole());
  c.table.replace("a", {});
  run_own(c.table.difference());
  c.run("add table ip others\nadd chain ip others mine\ndelete table ip others\n");
  c.run("add element ip troupe cluster-ips { 10.96.0.9 }\n");
  // All before a script of ours is judged when it begins.
  const auto count = [&] {
    run_own("add table ip troupe\n");
    return ours.load();
  };
  CHECK(count() == 0);
  // Also while a script of ours runs.
  c.machine.run([&] {
    CHECK(monitor->run({"ip troupe"}, [&](pid_t& process) {
      c.run("flush chain ip troupe refuse\n");
      return run_nft({*find_nft()}, "add table ip troupe\n", milliseconds{60'000}, &process);
    }));
  });
  CHECK(ours == 1);
  run_own(c.table.whole());
  c.run("add element ip troupe cluster-ips { 10.96.0.9 }\n");
  for (const auto* script :
       {"delete element ip troupe cluster-ips { 10.96.0.9 }\n", "flush chain ip troupe refuse\n",
        "flush table ip troupe\n", "delete table ip troupe\n"}) {
    const int before = count();
    c.run(script);
    INFO(script);
    CHECK(eventually([&] { return ours > before; }));
  }
  CHECK(of_policies == 0);
}

TEST_CASE("nft that does not end is ended", "[services]") {
  const auto ran = run_nft({"/bin/sh", "-c", "exec sleep 60"}, "", milliseconds{50});
  REQUIRE_FALSE(ran);
  CHECK(ran.error().find("took longer") != std::string::npos);
}

}  // namespace troupe::test
