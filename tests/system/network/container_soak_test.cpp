// Churn of pods that are containers, while the node and the container runtime are killed: what they
// leave on their machine is counted. A plain run samples it; the long suite takes
// TROUPE_SOAK_SECONDS (default ten minutes), in which the node's own resource usage must not grow
// either.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "system/network/container_cluster.hpp"
#include "system/node.hpp"

using namespace troupe::test;

namespace {

using soak_clock = std::chrono::steady_clock;

constexpr std::chrono::seconds churn_limit{240};
constexpr std::chrono::seconds sample_time{20};
constexpr int long_time_s = 600;
constexpr std::size_t killed_every = 4;  // cycles
// The node is killed in this part of the time only: its growth is measured afterwards.
constexpr int killed_part = 8;
// From the second quarter of the time to the last, as in soak_test; with fewer cycles it tells
// nothing.
constexpr double usage_growth = 1.05;
constexpr std::size_t telling_cycles = 40;

// Bounded data (history, events) reaches its bound after a few cycles.
const std::vector<std::string> soon_bounded{
    "--store-history-revisions", "1000", "--store-history-time", "10s",
    "--store-history-bytes",     "4Mi",  "--store-max-events",   "200"};

const char* const churned = R"(apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  clusterIP: 10.96.0.100
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080, nodePort: 30080}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      volumes: [{name: memory, emptyDir: {medium: Memory}}]
      containers:
      - name: c
        image: localhost/tools:1
        volumeMounts: [{name: memory, mountPath: /memory}]
        command: [sh, -c, "hostname > /tmp/index.html; echo begins; exec httpd -f -p 8080 -h /tmp"]
        readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: single, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 1
  initContainers: [{name: i, image: "localhost/tools:1", command: ["true"]}]
  containers:
  - name: c
    image: localhost/tools:1
    ports: [{containerPort: 8080, hostPort: 8088}]
    command: [sh, -c, "hostname > /tmp/index.html; exec httpd -f -p 8080 -h /tmp"]
    readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
)";

// With `socket`, `runtime` and `data`. The files `uids` and `namespaces` list those of all pods.
const char* const remember = R"sh(
all() { ctr -a $socket -n k8s.io containers "$@"; }
all ls -q | while read -r id; do all info --spec $id; done |
  grep -o 'cni-[0-9a-f-]*' | sort -u >> namespaces
)sh";
const char* const count_left = R"sh(
echo containers $(ctr -a $socket -n k8s.io containers ls -q | wc -l)
echo tasks $(ctr -a $socket -n k8s.io tasks ls -q | wc -l)
echo namespaces $(ls /run/netns 2>/dev/null | grep -c -x -F -f namespaces)
echo devices $(ip -o link | grep -c veth)
echo addresses $(ls $data/pod-addresses/troupe 2>/dev/null | grep -c '^10[.]')
echo mounts $(grep -e $runtime/ -e $data/ /proc/mounts | grep -c -F -f uids)
echo sandbox-mounts $(grep -c $runtime/ /proc/mounts)
echo cgroups $(find /sys/fs/cgroup -type d -name 'pod*' 2>/dev/null | grep -c -F -f uids)
echo rules $(nft list ruleset 2>/dev/null | grep -c -e '10[.]96[.]0[.]100' -e 30080 -e 8088)
echo folders $(find $data -type d 2>/dev/null | grep -c -F -f uids)
)sh";
constexpr std::size_t left_counts = 10;
// Connections of pods and services. An ended one is tracked for two minutes, here for ten seconds;
// one that its end did not reach, for five days.
const char* const forget_soon = R"sh(
cd /proc/sys/net/netfilter && for each in nf_conntrack_tcp_timeout_*[!d] nf_conntrack_udp_timeout*; do
  echo 10 > $each
done
)sh";
const char* const count_connections = R"sh(
echo connections $(grep -c -e '=10[.]42[.]' -e '=10[.]96[.]' /proc/net/nf_conntrack)
)sh";
const char* const count_rules = R"sh(
echo routes $(ip route | wc -l)
echo nft $(nft list ruleset 2>/dev/null | wc -w)
)sh";

using counts = std::map<std::string, std::int64_t>;

class container_churn {
 public:
  container_churn() {
    const auto& runtime = cluster.runtime(m1());
    settings_ = fmt::format("socket={}; runtime={}; data={}; touch uids namespaces; ",
                            runtime.socket(), runtime.folder().string(), m1().data().string());
    const auto set = m1().run(forget_soon);
    INFO(set.output);
    REQUIRE(set.code == 0);
  }

  machine& m1() { return cluster->control(); }

  // Objects come, are used, and go. Between that programs may be killed.
  void cycle(bool kill_runtime = false, bool kill_node = false) {
    const auto made = cluster->apply(churned);
    INFO(made.output);
    REQUIRE(made.code == 0);
    const std::string ready = "true true true true";
    const bool up = soon(churn_limit, [&] {
      return cluster
                 ->kubectl("get pods -o jsonpath='{.items[*].status.containerStatuses[*].ready}'")
                 .output == ready;
    });
    INFO(cluster->kubectl("get pods -o wide").output);
    REQUIRE(up);
    cluster->kubectl(
        "get pods -o jsonpath='{range .items[*]}{.metadata.uid}{\"\\n\"}{end}' >> uids");
    m1().run(settings_ + remember);
    if (kill_node) m1().kill();
    if (kill_runtime) {
      cluster.runtime(m1()).kill();
      cluster.runtime(m1()).start();
    }
    if (kill_node) m1().restart();
    // A request that comes before the rules is lost.
    for (const std::string url : {"10.96.0.100", "10.77.0.1:30080", "10.77.0.1:8088"}) {
      CAPTURE(url);
      CHECK(soon(churn_limit, [&] {
        return m1().run(fmt::format("curl -sS -m 5 http://{}/ >/dev/null", url)).code == 0;
      }));
    }
    const auto file = cluster->folder() / "apply.yaml";
    CHECK(cluster->kubectl("delete -f " + file.string() + " --grace-period=1").code == 0);
    CHECK(soon(churn_limit, [&] { return cluster->kubectl("get pods -o name").output.empty(); }));
  }

  counts count(const char* script) {
    std::istringstream lines{m1().run(settings_ + script).output};
    counts out;
    std::string name;
    for (std::int64_t number = 0; lines >> name >> number;)
      out[name] = number;
    return out;
  }

  std::int64_t connections() { return count(count_connections).at("connections"); }

  // What pods have left; empty once it is nothing, before the limit.
  std::string left() {
    std::string out;
    soon(churn_limit, [&] {
      out.clear();
      const auto found = count(count_left);
      if (found.size() < left_counts) out = "not counted: ";
      for (const auto& [name, number] : found)
        if (number != 0) out += fmt::format("{} {}, ", number, name);
      return out.empty();
    });
    return out;
  }

  // Of the node: memory, threads, descriptors; and the processes of the machine.
  std::vector<double> usage() {
    const std::filesystem::path proc{"/proc/" + std::to_string(m1().id())};
    const auto entries = [](const std::filesystem::path& folder) {
      return static_cast<double>(std::distance(std::filesystem::directory_iterator{folder},
                                               std::filesystem::directory_iterator{}));
    };
    return {static_cast<double>(resident_kb(m1().id())), entries(proc / "task"),
            entries(proc / "fd"), static_cast<double>(m1().space().processes().size())};
  }

  container_cluster cluster{0, {}, soon_bounded};

 private:
  std::string settings_;
};

double mean_of(const std::vector<std::vector<double>>& all, std::size_t from, std::size_t to,
               std::size_t measure) {
  double sum = 0;
  for (auto i = from; i < to; ++i)
    sum += all[i][measure];
  return sum / static_cast<double>(to - from);
}

void soak_containers(std::chrono::seconds time) {
  container_churn churn;
  const auto connections = churn.connections();
  churn.cycle();
  CHECK(churn.left() == "");
  const auto rules = churn.count(count_rules);
  REQUIRE(rules.size() == 2);
  std::vector<std::vector<double>> samples;
  const auto begin = soak_clock::now();
  do {
    const bool kill = samples.size() % killed_every == 0;
    churn.cycle(kill, kill && soak_clock::now() < begin + time / killed_part);
    samples.push_back(churn.usage());
    const auto& at = samples.back();
    std::cout
        << fmt::format(
               "container soak: {} s, {} cycles: {:.0f} KB resident, {:.0f} threads, {:.0f} "
               "descriptors, {:.0f} processes",
               std::chrono::duration_cast<std::chrono::seconds>(soak_clock::now() - begin).count(),
               samples.size(), at[0], at[1], at[2], at[3])
        << std::endl;
  } while (soak_clock::now() < begin + time);
  CHECK(churn.left() == "");
  CHECK(soon(churn_limit, [&] { return churn.count(count_rules) == rules; }));
  CHECK(churn.count(count_rules) == rules);
  CHECK(soon(churn_limit, [&] { return churn.connections() <= connections; }));
  CHECK(churn.connections() <= connections);
  if (samples.size() < telling_cycles) return;
  const auto quarter = samples.size() / 4;
  for (std::size_t i = 0; i < samples.front().size(); ++i) {
    INFO("measure " << i << " of the line above");
    CHECK(mean_of(samples, 3 * quarter, samples.size(), i) <=
          usage_growth * mean_of(samples, quarter, 2 * quarter, i));
  }
}

}  // namespace

TEST_CASE("pods that come and go leave nothing on their machine",
          "[network][containers][pod_network]") {
  if (!container_cluster::possible()) return;
  soak_containers(sample_time);
}

TEST_CASE("a long churn of pods leaves nothing on their machine, and its node does not grow",
          "[.long][container_soak]") {
  if (!container_cluster::possible()) return;
  const char* wanted = std::getenv("TROUPE_SOAK_SECONDS");
  soak_containers(std::chrono::seconds{wanted == nullptr ? long_time_s : std::atoi(wanted)});
}
