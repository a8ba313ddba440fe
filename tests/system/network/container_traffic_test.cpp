// Every way of a packet between pods, services, machines and others outside, on two machines with
// real containers; again while programs are killed, and after they have come back.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "system/network/container_cluster.hpp"

using namespace troupe::test;

namespace {

constexpr std::chrono::seconds traffic_limit{240};
constexpr int traffic_calls = 12;

// A page with its pod's name and the client's address, and a client beside it.
std::string traffic_pods(const std::string& node) {
  return fmt::format(R"yaml(---
apiVersion: v1
kind: Pod
metadata: {{name: web-{0}, labels: {{app: web}}}}
spec:
  nodeName: {0}
  terminationGracePeriodSeconds: 1
  containers:
  - name: c
    image: localhost/tools:1
    ports: [{{containerPort: 8080, hostPort: 8088}}]
    readinessProbe: {{tcpSocket: {{port: 8080}}, periodSeconds: 1}}
    command:
    - sh
    - -c
    - |
      mkdir -p /tmp/cgi-bin
      cat > /tmp/cgi-bin/who <<'END'
      #!/bin/sh
      printf 'Content-Type: text/plain\r\n\r\n'
      echo "$(hostname) $REMOTE_ADDR"
      END
      chmod +x /tmp/cgi-bin/who
      exec httpd -f -p 8080 -h /tmp
---
apiVersion: v1
kind: Pod
metadata: {{name: client-{0}}}
spec:
  nodeName: {0}
  terminationGracePeriodSeconds: 1
  containers: [{{name: c, image: "localhost/tools:1", command: [sleep, "100000"]}}]
)yaml",
                     node);
}

const char* const traffic_services = R"(---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  clusterIP: 10.96.0.100
  externalIPs: [203.0.113.7]
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080, nodePort: 30080}]
---
apiVersion: v1
kind: Service
metadata: {name: balanced}
spec:
  type: LoadBalancer
  loadBalancerClass: troupe.io/nodes
  selector: {app: web}
  ports: [{port: 8081, targetPort: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: near}
spec:
  clusterIP: 10.96.0.101
  internalTrafficPolicy: Local
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: near-outside}
spec:
  type: NodePort
  externalTrafficPolicy: Local
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080, nodePort: 30081}]
)";

const char* const outside_server =
    "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalPort => 9000, Listen => 64, "
    "ReuseAddr => 1) or die; while ($c = $s->accept) { sysread $c, $_, 4096; print $c "
    "\"HTTP/1.0 200 OK\\r\\n\\r\\noutside \" . $c->peerhost . \"\\n\"; close $c }' "
    ">/dev/null 2>&1 &";

// Who asks, whom, and who answers; `client` is the address that the server must see.
struct traffic_row {
  std::string name;
  std::string from;  // m1, m2, outside, or a pod
  std::string to;
  std::set<std::string> servers;
  std::string client = {};
};

class traffic_cluster {
 public:
  traffic_cluster() : outside_{cluster->add()} {
    REQUIRE(
        outside_
            .run("ip route add 203.0.113.7 via 10.77.0.1 dev net0; " + std::string{outside_server})
            .code == 0);
    const auto made = cluster->apply(traffic_services + traffic_pods("m1") + traffic_pods("m2"));
    INFO(made.output);
    REQUIRE(made.code == 0);
    const bool ready = soon(traffic_limit, [&] { return are_ready(); });
    INFO(cluster->kubectl("describe pods").output);
    REQUIRE(ready);
  }

  bool are_ready() {
    return cluster->kubectl("get pods -o jsonpath='{.items[*].status.containerStatuses[*].ready}'")
               .output == "true true true true";
  }

  // Every row, until it is as expected. `learn`: the clients may be others than before, and the
  // programs that know them run.
  void check(const std::string& when, bool learn = true) {
    if (learn) learn_pods();
    for (const auto& row : rows()) {
      INFO(when << ": " << row.name << ", from " << row.from << " to " << row.to);
      std::string answers;
      const bool fine = soon(traffic_limit, [&] {
        if (fits(row, answers = ask(row))) return true;
        if (learn) learn_pods();
        return false;
      });
      INFO(answers);
      CHECK(fine);
    }
  }

  container_cluster cluster{1};

 private:
  struct known_pod {
    std::string process, address;
  };

  std::vector<traffic_row> rows() {
    const std::set<std::string> both{"web-m1", "web-m2"}, first{"web-m1"}, second{"web-m2"};
    const std::string m1 = "10.77.0.1", m2 = "10.77.0.2", other = "10.77.0.3";
    return {{"the cluster address", "m1", "10.96.0.100:80", both},
            {"the cluster address", "client-m1", "10.96.0.100:80", both, "client-m1"},
            {"the cluster address", "client-m2", "10.96.0.100:80", both, "client-m2"},
            {"a node port", "outside", m1 + ":30080", both},
            {"a node port", "outside", m2 + ":30080", both},
            {"a node port", "client-m1", m2 + ":30080", both},
            {"a load balancer", "outside", m1 + ":8081", both},
            {"a load balancer", "outside", m2 + ":8081", both},
            {"an external address", "outside", "203.0.113.7:80", both},
            {"an external address", "client-m2", "203.0.113.7:80", both},
            {"internalTrafficPolicy Local", "client-m1", "10.96.0.101:80", first, "client-m1"},
            {"internalTrafficPolicy Local", "client-m2", "10.96.0.101:80", second, "client-m2"},
            {"externalTrafficPolicy Local", "outside", m1 + ":30081", first, other},
            {"externalTrafficPolicy Local", "outside", m2 + ":30081", second, other},
            {"a way out", "client-m1", other + ":9000", {"outside"}, m1},
            {"a way out", "client-m2", other + ":9000", {"outside"}, m2},
            {"a host port", "outside", m1 + ":8088", first, other},
            {"a host port", "client-m1", m1 + ":8088", first, "client-m1"},
            {"a host port", "client-m1", m2 + ":8088", second, m1},
            {"a host port", "m1", m1 + ":8088", first, m1}};
  }

  machine& machine_of(const std::string& name) {
    if (name == "outside") return outside_;
    return cluster->at(name.ends_with("m1") ? 1 : 2);
  }

  // The process and the address of each client.
  void learn_pods() {
    std::istringstream lines{
        cluster
            ->kubectl("get pods client-m1 client-m2 -o jsonpath='{range .items[*]}"
                      "{.metadata.name} {.status.podIP} "
                      "{.status.containerStatuses[0].containerID}{\"\\n\"}{end}'")
            .output};
    for (std::string name, address, id; lines >> name >> address >> id;) {
      id.erase(0, id.find("//") + 2);
      auto process =
          cluster.runtime(machine_of(name)).ctr("tasks ls | awk '$1 == \"" + id + "\" {print $2}'");
      if (process.empty() || process.find_first_not_of("0123456789\n") != std::string::npos)
        continue;  // the runtime does not answer
      process.pop_back();
      pods_[name] = {process, address};
    }
  }

  // A line for each call: the server's name and the client's address, or why there is none.
  std::string ask(const traffic_row& row) {
    const bool of_pod = row.from.starts_with("client-");
    const auto enter =
        of_pod ? fmt::format("nsenter --net=/proc/{}/ns/net ", pods_[row.from].process) : "";
    return machine_of(row.from)
        .run(fmt::format(
            "for i in $(seq {}); do {}curl -sS -m 5 http://{}/cgi-bin/who || break; done",
            traffic_calls, enter, row.to))
        .output;
  }

  bool fits(const traffic_row& row, const std::string& answers) {
    const auto known = pods_.find(row.client);
    const auto& client = known == pods_.end() ? row.client : known->second.address;
    std::set<std::string> servers;
    std::istringstream lines{answers};
    int count = 0;
    for (std::string server, seen; lines >> server >> seen; ++count) {
      servers.insert(server);
      if (!client.empty() && seen != client) return false;
    }
    return count == traffic_calls && servers == row.servers;
  }

  machine& outside_;
  std::map<std::string, known_pod> pods_;
};

}  // namespace

TEST_CASE("packets find their way by every kind of service, also while nodes are killed",
          "[network][containers][pod_network]") {
  if (!container_cluster::possible()) return;
  traffic_cluster t;
  auto& c = *t.cluster;
  t.check("at first");
  for (unsigned each : {1u, 2u})
    c.at(each).kill();
  t.check("without nodes", false);
  for (unsigned each : {1u, 2u})
    c.at(each).restart();
  CHECK(soon(traffic_limit, [&] { return c.is_ready(c.at(1)) && c.is_ready(c.at(2)); }));
  t.check("after a restart of the nodes");
  t.cluster.delete_pods();
}

TEST_CASE(
    "packets find their way while container runtimes are killed, and after a whole machine was",
    "[.long][network][containers][pod_network]") {
  if (!container_cluster::possible()) return;
  traffic_cluster t;
  auto& c = *t.cluster;
  t.check("at first");
  for (unsigned each : {1u, 2u})
    t.cluster.runtime(c.at(each)).kill();
  t.check("without container runtimes", false);
  for (unsigned each : {1u, 2u})
    t.cluster.runtime(c.at(each)).start();

  // The node, the runtime, and the processes that hold the containers.
  auto& m2 = c.at(2);
  m2.kill();
  t.cluster.runtime(m2).kill();
  for (const auto each : m2.space().processes())
    ::kill(each, SIGKILL);
  t.cluster.runtime(m2).start();
  m2.restart();
  CHECK(soon(traffic_limit, [&] { return c.is_ready(m2) && t.are_ready(); }));
  t.check("after all of a machine was killed");
  t.cluster.delete_pods();
  for (unsigned each : {1u, 2u}) {
    CHECK(soon(traffic_limit, [&] { return t.cluster.left_of_pods(c.at(each)).empty(); }));
    CHECK(t.cluster.left_of_pods(c.at(each)) == "");
  }
}
