// Services on the machines of a cluster: pods that are processes, rules that come over the link,
// and a machine that leaves.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "system/network/joined_cluster.hpp"
#include "system/network/pod_machine.hpp"

using namespace troupe::test;
using Catch::Matchers::Contains;

namespace {

constexpr std::chrono::seconds service_limit{120};
constexpr int calls = 16;
// curl's exit code; for dropped packets it is another code, after its time-out.
constexpr int curl_refused = 7;

// A pod that sends its node's name to each connection.
std::string pod_on(const machine& node) {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: on-" + node.name() +
         R"(, labels: {app: web}}
spec:
  nodeName: )" +
         node.name() + R"(
  terminationGracePeriodSeconds: 1
  containers:
  - name: c
    image: none
    command:
    - perl
    - -MIO::Socket::INET
    - -e
    - |
      $s = IO::Socket::INET->new(LocalPort => 8080, Listen => 64, ReuseAddr => 1) or die;
      while ($c = $s->accept) {
        sysread $c, $_, 4096;
        print $c "HTTP/1.0 200 OK\r\n\r\n)" +
         node.name() + R"(";
        close $c;
      }
)";
}

const char* const services = R"(---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  clusterIP: 10.96.0.100
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080, nodePort: 30080}]
)";

process_result call(const machine& from, const std::string& url) {
  return from.run("curl -sS -m 10 " + url);
}

// Ends with the first call that gets no answer, which takes its whole time-out.
std::set<std::string> answers(const machine& from, const std::string& url) {
  std::set<std::string> out;
  for (int i = 0; i < calls; ++i) {
    const auto answer = call(from, url);
    out.insert(answer.output);
    if (answer.code != 0) break;
  }
  return out;
}

struct served_cluster : joined_cluster {
  served_cluster() : joined_cluster{1, flags()} {
    // As on any machine, whose default route covers these addresses.
    for (unsigned each : {1u, 2u})
      REQUIRE(at(each).run("ip route add 10.96.0.0/12 dev net0").code == 0);
    const auto made = apply(services + pod_on(at(1)) + pod_on(at(2)));
    INFO(made.output);
    REQUIRE(made.code == 0);
  }

  static cluster_flags flags() {
    auto out = patient();
    for (auto* each : {&out.control, &out.joined})
      each->insert(each->end(), {"--network-mode", "services"});
    // As on a new machine.
    out.own = [](machine& one) {
      one.run("echo 0 > /proc/sys/net/ipv4/ip_forward");
      return std::vector<std::string>{};
    };
    return out;
  }

  void remove_pod_of(const machine& node) {
    const auto removed = kubectl("delete pod on-" + node.name());
    INFO(removed.output);
    REQUIRE(removed.code == 0);
  }
};

}  // namespace

TEST_CASE("every machine of a cluster reaches its services, and the API at its own",
          "[network][services]") {
  if (!can_try_rules()) return;
  served_cluster c;
  const std::set<std::string> both{"m1", "m2"};
  const std::string cluster_ip = "http://10.96.0.100", node_port = ":30080";
  for (unsigned each : {1u, 2u}) {
    // A node port is served by the rules of the machine that is called, which may come later.
    for (const auto& url :
         {cluster_ip, c.at(1).address() + node_port, c.at(2).address() + node_port}) {
      INFO(url);
      CHECK(soon(service_limit, [&] { return answers(c.at(each), url) == both; }));
    }
    const auto api =
        "--cacert " + (c.control().data() / "pki/ca.crt").string() + " https://10.96.0.1/version";
    CHECK(soon(service_limit, [&] {
      return call(c.at(each), api).output.find("gitVersion") != std::string::npos;
    }));
  }
  // What somebody removes by hand is put back, before a check of all rules would find it (30 s). On
  // a slow machine even the calls take longer.
  const auto began = std::chrono::steady_clock::now();
  CHECK(answers(c.at(1), cluster_ip) == both);
  const auto restored = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::seconds{10} + 4 * (std::chrono::steady_clock::now() - began));
  for (const auto* removal :
       {"flush map ip troupe service-ports", "flush chain ip troupe services", "flush ruleset"}) {
    INFO(removal);
    REQUIRE(c.at(1).run(std::string{"nft "} + removal).code == 0);
    CHECK(soon(restored, [&] { return answers(c.at(1), cluster_ip) == both; }));
  }
  c.remove_pod_of(c.at(2));
  for (unsigned each : {1u, 2u})
    CHECK(soon(service_limit,
               [&] { return answers(c.at(each), cluster_ip) == std::set<std::string>{"m1"}; }));
  c.remove_pod_of(c.at(1));
  for (unsigned each : {1u, 2u}) {
    const auto refused = [&](const std::string& url) {
      return call(c.at(each), url).code == curl_refused;
    };
    CHECK(soon(service_limit, [&] { return refused(cluster_ip); }));
    CHECK(soon(service_limit, [&] { return refused(c.at(1).address() + node_port); }));
  }
}

TEST_CASE("a restart keeps the rules of services, and a machine that leaves takes its own away",
          "[network][services]") {
  if (!can_try_rules()) return;
  served_cluster c;
  auto& m2 = c.at(2);
  const auto tables = [&] { return m2.run("nft list tables").output; };
  const auto addresses = [&] { return m2.run("ip -4 addr show lo").output; };
  REQUIRE(soon(service_limit, [&] { return call(m2, "http://10.96.0.100").code == 0; }));
  REQUIRE(m2.run("nft add table ip others").code == 0);
  m2.kill();
  CHECK(call(m2, "http://10.96.0.100").code == 0);
  m2.restart();
  CHECK(
      soon(service_limit, [&] { return addresses().find("10.96.0.10/32") != std::string::npos; }));
  const auto left = m2.run("troupe leave --data-dir data");
  INFO(left.output);
  CHECK(left.code == 0);
  CHECK(tables() == "table ip others\n");
  CHECK_THAT(addresses(), !Contains("10.96.0.10/32"));
}
