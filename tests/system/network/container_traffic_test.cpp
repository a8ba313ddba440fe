// Every way of a packet between pods, services, machines and others outside, and those that a
// policy closes, on two machines with real containers; again while programs are killed, and after
// they have come back.
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

// A page with its pod's name and the client's address (without "[::ffff:" and "]"), and the same by
// UDP, with this machine's perl.
std::string traffic_server(const std::string& app, const std::string& node,
                           const std::string& host_port = {}) {
  return fmt::format(R"yaml(---
apiVersion: v1
kind: Pod
metadata: {{name: {0}-{1}, labels: {{app: {0}}}}}
spec:
  nodeName: {1}
  terminationGracePeriodSeconds: 1
  volumes:
  - {{name: usr, hostPath: {{path: /usr}}}}
  - {{name: lib, hostPath: {{path: /lib}}}}
  - {{name: lib64, hostPath: {{path: /lib64}}}}
  containers:
  - name: c
    image: localhost/tools:1
    ports: [{{containerPort: 8080{2}}}]
    readinessProbe: {{tcpSocket: {{port: 8080}}, periodSeconds: 1}}
    resources: {{requests: {{cpu: 400m}}}}
    volumeMounts:
    - {{name: usr, mountPath: /usr, readOnly: true}}
    - {{name: lib, mountPath: /lib, readOnly: true}}
    - {{name: lib64, mountPath: /lib64, readOnly: true}}
    command:
    - sh
    - -c
    - |
      mkdir -p /tmp/cgi-bin
      cat > /tmp/cgi-bin/who <<'END'
      #!/bin/sh
      printf 'Content-Type: text/plain\r\n\r\n'
      client=${{REMOTE_ADDR##*:}}
      echo "$(hostname) ${{client%]}}"
      END
      chmod +x /tmp/cgi-bin/who
      /usr/bin/perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalPort => 8080,
        Proto => "udp") or die; while (1) {{ $s->recv($_, 64) // next;
        $s->send("'$(hostname)' " . $s->peerhost . "\n") }}' &
      exec httpd -f -p 8080 -h /tmp
)yaml",
                     app, node, host_port);
}

// Its first command asks the server outside.
std::string traffic_starter(const std::string& app) {
  return fmt::format(R"yaml(---
apiVersion: v1
kind: Pod
metadata: {{name: {0}, labels: {{app: {0}}}}}
spec:
  nodeName: m2
  restartPolicy: Never
  containers:
  - name: c
    image: localhost/tools:1
    command:
    - sh
    - -c
    - nc -w 3 10.77.0.3 9000 </dev/null 2>&1 | grep -o outside; echo $?;
      nslookup kubernetes.default.svc.cluster.local | grep -o '10[.]96[.]0[.]1$'
)yaml",
                     app);
}

std::string traffic_pods(const std::string& node) {
  return traffic_server("web", node, ", hostPort: 8088") + traffic_server("guarded", node) +
         fmt::format(R"yaml(---
apiVersion: v1
kind: Pod
metadata: {{name: client-{0}, labels: {{client: {0}}}}}
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
---
apiVersion: v1
kind: Service
metadata: {name: sticky}
spec:
  clusterIP: 10.96.0.102
  sessionAffinity: ClientIP
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: datagrams}
spec:
  clusterIP: 10.96.0.103
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080, protocol: UDP}]
---
apiVersion: v1
kind: Service
metadata: {name: guarded}
spec:
  clusterIP: 10.96.0.104
  selector: {app: guarded}
  ports: [{port: 80, targetPort: 8080}]
)";

const char* const traffic_policies = R"(---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: guard}
spec:
  podSelector: {matchLabels: {app: guarded}}
  ingress: [{from: [{podSelector: {matchLabels: {client: m1}}}]}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: alone}
spec:
  podSelector: {matchLabels: {app: alone}}
  policyTypes: [Egress]
)";

const char* const outside_server =
    "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalPort => 9000, Listen => 64, "
    "ReuseAddr => 1) or die; while ($c = $s->accept) { sysread $c, $_, 4096; print $c "
    "\"HTTP/1.0 200 OK\\r\\n\\r\\noutside \" . $c->peerhost . \"\\n\"; close $c }' "
    ">/dev/null 2>&1 &";

// Who asks, whom, and who answers; `client` is the address or pod that the server must see.
struct traffic_row {
  std::string name;
  std::string from;               // m1, m2, outside, or a pod
  std::string to;                 // an address, a pod or a name, and a port; "udp:" before it
  std::set<std::string> servers;  // none: the call must time out
  std::string client = {};
  bool always_one = false;  // of the servers
};

class traffic_cluster {
 public:
  traffic_cluster() : outside_{cluster->add()} {
    REQUIRE(
        outside_
            .run("ip route add 203.0.113.7 via 10.77.0.1 dev net0; " + std::string{outside_server})
            .code == 0);
    apply(std::string{traffic_policies} + traffic_services);
    apply(traffic_pods("m1") + traffic_pods("m2"));
    const bool ready = soon(traffic_limit, [&] { return are_ready(); });
    INFO(cluster->kubectl("describe pods").output);
    REQUIRE(ready);
  }

  void apply(const std::string& objects) {
    const auto made = cluster->apply(objects);
    INFO(made.output);
    REQUIRE(made.code == 0);
  }

  bool are_ready() {
    return cluster->kubectl("get pods -o jsonpath='{.items[*].status.containerStatuses[*].ready}'")
               .output == "true true true true true true";
  }

  // Every row, until it is as expected. `learn`: pods may be others than before, and the programs
  // that know them run, DNS too.
  void check(const std::string& when, bool learn = true) {
    if (learn) learn_pods();
    for (const auto& row : rows()) {
      if (!learn && row.to.starts_with("web.")) continue;
      INFO(when << ": " << row.name << ", from " << row.from << " to " << row.to);
      std::string answers;
      bool forbidden = false;
      const bool fine = soon(traffic_limit, [&] {
        if (fits(row, answers = ask(row))) return true;
        // Not even once.
        forbidden = row.servers.empty() && answers.find("guarded-") != answers.npos;
        if (learn) learn_pods();
        return forbidden;
      });
      CHECK_FALSE(forbidden);
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
    return {
        {"the cluster address", "m1", "10.96.0.100:80", both},
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
        {"a pod of its machine", "m1", "web-m1:8080", first},
        {"a pod of another machine", "m1", "web-m2:8080", second},
        {"a pod of its machine", "client-m1", "web-m1:8080", first, "client-m1"},
        {"a pod of another machine", "client-m1", "web-m2:8080", second, "client-m1"},
        {"a service by name", "client-m2", "web.default.svc.cluster.local:80", both, "client-m2"},
        {"ClientIP affinity", "client-m1", "10.96.0.102:80", both, "client-m1", true},
        {"UDP", "client-m1", "udp:10.96.0.103:80", both, "client-m1"},
        {"UDP", "m2", "udp:10.96.0.103:80", both},
        {"a host port", "outside", m1 + ":8088", first, other},
        {"a host port", "client-m1", m1 + ":8088", first, "client-m1"},
        {"a host port", "client-m1", m2 + ":8088", second, m1},
        {"a host port", "m1", m1 + ":8088", first, m1},
        {"an allowed client", "client-m1", "guarded-m2:8080", {"guarded-m2"}, "client-m1"},
        {"an allowed client", "client-m1", "10.96.0.104:80", {"guarded-m1", "guarded-m2"}},
        {"a forbidden client", "client-m2", "guarded-m1:8080", {}},
        {"a forbidden client", "client-m2", "10.96.0.104:80", {}}};
  }

  machine& machine_of(const std::string& name) {
    if (name == "outside") return outside_;
    return cluster->at(name.ends_with("m1") ? 1 : 2);
  }

  // The process and the address of each pod.
  void learn_pods() {
    std::istringstream lines{
        cluster
            ->kubectl("get pods -o jsonpath='{range .items[*]}"
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
    const bool udp = row.to.starts_with("udp:");
    const auto to = row.to.substr(udp ? 4 : 0);
    const auto colon = to.find(':');
    auto host = to.substr(0, colon);
    const auto port = to.substr(colon + 1);
    if (const auto pod = pods_.find(host); pod != pods_.end()) host = pod->second.address;
    std::string enter, find = "host=" + host;
    if (row.from.starts_with("client-")) {
      enter = fmt::format("nsenter --net=/proc/{}/ns/net ", pods_[row.from].process);
      // By the resolver of the pod.
      if (host.starts_with("web."))
        find = fmt::format(
            "host=$({}--mount=/proc/{}/ns/mnt nslookup {} | "
            "awk '/^Name/ {{n = 1}} n && /^Address/ {{print $2; exit}}')",
            enter, pods_[row.from].process, host);
    }
    // A connection, or a port, for each call.
    const auto call =
        udp ? fmt::format(
                  "perl -MIO::Socket::INET -e 'alarm 60; for (1..{}) {{ $s = IO::Socket::INET->new("
                  "PeerAddr => $ARGV[0], PeerPort => {}, Proto => \"udp\") or die; "
                  "$s->send(\"x\"); $s->recv($_, 64) // last; print }}' $host",
                  traffic_calls, port)
            : fmt::format("curl -sS --fail-early -m {} \"http://$host:{}/cgi-bin/who?[1-{}]\"",
                          row.servers.empty() ? 2 : 5, port, traffic_calls);
    return machine_of(row.from).run(find + "; " + enter + call).output;
  }

  bool fits(const traffic_row& row, const std::string& answers) {
    if (row.servers.empty()) return answers.starts_with("curl: (28)");
    const auto known = pods_.find(row.client);
    const auto& client = known == pods_.end() ? row.client : known->second.address;
    std::set<std::string> servers;
    std::istringstream lines{answers};
    int count = 0;
    for (std::string server, seen; lines >> server >> seen; ++count) {
      servers.insert(server);
      if (!client.empty() && seen != client) return false;
    }
    if (count != traffic_calls) return false;
    return row.always_one ? servers.size() == 1 && row.servers.contains(*servers.begin())
                          : servers == row.servers;
  }

  machine& outside_;
  std::map<std::string, known_pod> pods_;
};

}  // namespace

TEST_CASE(
    "packets find their way by every kind of service and policy, also while nodes and container "
    "runtimes are killed",
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
  // Without them nodes are not ready, and services have no endpoints after some seconds.
  for (unsigned each : {1u, 2u}) {
    t.cluster.runtime(c.at(each)).kill();
    t.cluster.runtime(c.at(each)).start();
  }
  t.check("after a restart of the container runtimes");

  // A policy is in force before the first packet.
  t.apply(traffic_starter("alone") + traffic_starter("free"));
  const auto log = [&](const std::string& pod, const std::string& wanted) {
    std::string out;
    soon(traffic_limit, [&] { return (out = c.kubectl("logs " + pod).output) == wanted; });
    return out;
  };
  // Names are not part of it.
  const std::string resolved = "10.96.0.1\n", outside = "outside\n";
  CHECK(log("free", outside + "0\n" + resolved) == outside + "0\n" + resolved);
  CHECK(log("alone", "1\n" + resolved) == "1\n" + resolved);
  t.cluster.delete_pods();
}

TEST_CASE("packets find their way after a whole machine was killed",
          "[.long][network][containers][pod_network]") {
  if (!container_cluster::possible()) return;
  traffic_cluster t;
  auto& c = *t.cluster;
  t.check("at first");

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
