// Pods with addresses of their own on joined machines: real containers, each machine a network
// namespace with a containerd of its own.
#include <catch2/catch.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "build_paths.hpp"
#include "support/skip.hpp"
#include "system/kubectl.hpp"
#include "system/network/container_cluster.hpp"
#include "system/network/pod_machine.hpp"
#include "system/node.hpp"
#include "system/transcript.hpp"

using namespace troupe::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds limit{240};

// The network of this machine itself, which must not change, except what changes in time: leases,
// and the pods of other test programs (10.213.0.0/16).
std::string own_network() {
  return shell(
             "ip -o link | grep -v veth; ip route | grep -v '10[.]213[.]'; "
             "ip -o addr | sed 's/valid_lft.*//' | grep -v -e '10[.]213[.]' -e 'veth.* fe80:'; "
             "nft list tables 2>/dev/null")
      .output;
}

std::string fetched(const machine& from, const std::string& url) {
  return from.run("curl -sS -m 10 " + url).output;
}

// Names of the servers that answer `calls` requests; empty if one gets no answer.
std::set<std::string> heard(const machine& from, const std::string& url, int calls = 12) {
  std::set<std::string> out;
  for (int i = 0; i < calls; ++i) {
    const auto answer = from.run("curl -sS -m 10 " + url);
    if (answer.code != 0 || answer.output.empty()) return {};
    out.insert(answer.output);
  }
  return out;
}

// -- the guestbook --------------------------------------------------------------------------------

const fs::path manifests{TROUPE_SOURCE_DIR "/../shared/data/2014-v0.2"};

struct tour_step {
  unsigned machine;
  std::string command;
  std::vector<std::string> expected = {};
};

// The commands of the README at the prompts of m1, m2 and m3.
std::vector<tour_step> tour() {
  static const std::regex prompt{R"(m([1-3])\$ (.*))"};
  std::istringstream lines{read_file(TROUPE_SOURCE_DIR "/README.md")};
  std::vector<tour_step> steps;
  bool in_output = false;
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, prompt)) {
      steps.push_back({static_cast<unsigned>(std::stoul(found[1])), found[2]});
      in_output = true;
    } else if (line.empty() || line.starts_with("```")) {
      in_output = false;
    } else if (in_output) {
      steps.back().expected.push_back(line);
    }
  }
  return steps;
}

// Replaces parts that vary from run to run by patterns.
std::string pattern_of(const std::string& line) {
  const auto replaced = [](const std::string& text, const char* part, const char* by) {
    return std::regex_replace(text, std::regex{part}, by);
  };
  auto out = replaced(line, R"([.(){}\[\]?*+|^$\\])", R"(\$&)");
  out = replaced(out, R"(10(\\\.[0-9]+){3})", R"(10(\.[0-9]+){3})");
  out = replaced(out, "-[a-z0-9]{5}( |$)", "-[a-z0-9]{5}$1");
  out = replaced(out, R"(\b[0-9]+m?[0-9]*s\b)", "[0-9ms]+");
  out = replaced(out, R"( m[1-3] )", " m[1-3] ");
  return "~ " + replaced(out, "  +", " +");
}

void import_guestbook(container_cluster& cluster) {
  const auto folder = cluster.runtime(cluster->control()).folder();
  const auto made = shell(TROUPE_SOURCE_DIR "/tests/system/containers/guestbook-images " +
                          folder.string() + " 2>&1");
  INFO(made.output);
  REQUIRE(made.code == 0);
  for (const auto* name : {"master", "slave", "frontend"})
    cluster.import_image(folder / ("guestbook-" + std::string{name} + ".tar"));
}

class guestbook {
 public:
  guestbook() {
    auto& m1 = cluster->control();
    import_guestbook(cluster);
    const auto here = m1.data().parent_path(), files = here / "guestbook";
    fs::create_directory(files);
    fs::create_symlink("data", here / "var");
    for (const auto* name : {"redis-master", "redis-master-service", "redis-slave-controller",
                             "redis-slave-service", "frontend-controller", "frontend-service"})
      fs::copy_file(manifests / (std::string{"guestbook-"} + name + ".json"),
                    files / (std::string{name} + ".json"));
  }

  // Without its first commands, which start and join the machines. Ends with a running cluster.
  void play_tour() {
    int played = 0;
    bool is_killed = false;
    for (const auto& step : tour()) {
      if (step.command == "kill -9 %1") {
        cluster->control().kill();
        is_killed = true;
      } else if (step.command.starts_with("troupe node")) {
        if (is_killed) cluster->control().restart();
      } else if (!step.command.starts_with("troupe ")) {
        const auto problem = play(step);
        INFO(problem);
        REQUIRE(problem.empty());
        ++played;
      }
    }
    REQUIRE(played >= 10);
    address_ = cluster->kubectl("get service frontend -o jsonpath={.spec.clusterIP}").output;
  }

  std::string url(const std::string& question = {}) const {
    return "'http://" + address_ + ":9998/cgi-bin/guestbook?" + question + "'";
  }
  std::size_t ready() {
    std::istringstream pods{cluster->kubectl("get pods --no-headers").output};
    std::size_t count = 0;
    for (std::string line; std::getline(pods, line);)
      count +=
          line.find(" 1/1 ") != std::string::npos && line.find(" Running ") != std::string::npos;
    return count;
  }
  // Adds an entry, once it shows: a request that comes before a machine's rules is lost.
  bool add(const machine& from, const std::string& entry) {
    return soon(limit, [&] {
      fetched(from, url("add=" + entry));
      return entries().find(entry + "\n") != std::string::npos;
    });
  }
  // Of the master.
  std::string entries() {
    return cluster->kubectl("exec redis-master-2 -- cat /data/entries").output;
  }
  std::string state() { return cluster->kubectl("get pods,nodes,services -o wide").output; }

  container_cluster cluster{
      2, {}, {"--legacy-listen", "10.77.0.1:8080", "--minions-grace-period", "6s"}};

 private:
  // Empty: as the README has it. A command that reads, or failed to write, is repeated until then.
  std::string play(const tour_step& step) {
    std::vector<std::string> expected;
    for (const auto& line : step.expected)
      expected.push_back(pattern_of(line));
    const auto command = "export KUBECONFIG=./var/admin.kubeconfig; kubectl() { " +
                         kubectls().back().path + " \"$@\"; }; " + step.command;
    std::string problem;
    const auto fits = [&] {
      const auto got = cluster->at(step.machine).run(command);
      problem = got.code == 0 ? mismatch(expected, got.output) : "it failed";
      if (!problem.empty()) problem = step.command + "\n" + got.output + "--- " + problem;
      return problem.empty();
    };
    const bool may_repeat =
        step.command.starts_with("kubectl get") || step.command.starts_with("curl");
    static_cast<void>(may_repeat ? soon(limit, fits) : fits());
    return problem;
  }

  std::string address_;
};

}  // namespace

TEST_CASE("the guestbook of 2014 in the README answers on three machines, whoever is killed",
          "[network][containers][pod_network]") {
  if (!container_cluster::possible()) return;
  if (!fs::exists(manifests)) return skip(manifests.string() + " does not exist");
  const auto before = own_network();
  {
    guestbook g;
    auto& c = *g.cluster;
    g.play_tour();
    const auto up = soon(limit, [&] { return g.ready() == 6; });
    INFO(g.state());
    REQUIRE(up);
    REQUIRE(g.add(c.at(2), "hello"));
    const auto first = g.entries();
    for (unsigned each : {1u, 2u, 3u})
      CHECK(soon(limit, [&] { return fetched(c.at(each), g.url()) == first; }));
    std::set<std::string> names;
    CHECK(soon(limit, [&] { return (names = heard(c.at(1), g.url("who"), 20)).size() == 3; }));
    // Through the port of each machine, as its manifest requests. Followers sync every second.
    for (unsigned each : {1u, 2u, 3u})
      CHECK(soon(limit, [&] {
        return fetched(c.at(each % 3 + 1),
                       "http://" + c.at(each).address() + ":8000/cgi-bin/guestbook") == first;
      }));

    c.control().kill();
    // DNS on that machine is down with its program; its rules and routes stay.
    for (unsigned each : {1u, 2u, 3u})
      CHECK(soon(limit, [&] { return heard(c.at(each), g.url("who"), 20) == names; }));
    c.control().restart();
    REQUIRE(g.add(c.at(3), "again"));
    const auto both = g.entries();
    CHECK_THAT(both, Catch::StartsWith(first));
    CHECK(soon(limit, [&] { return fetched(c.at(1), g.url()) == both; }));

    // A machine that is lost: its page does not answer, the others' do. The master may be there.
    const auto on = c.kubectl("get pod redis-master-2 -o jsonpath={.spec.nodeName}").output;
    auto& lost = c.at(on == "m3" ? 2 : 3);
    auto& stays = c.at(on == "m3" ? 3 : 2);
    lost.kill();
    c.network().isolate(lost.number());
    CHECK(soon(limit, [&] { return !c.is_ready(lost); }));
    CHECK(soon(limit, [&] { return heard(stays, g.url("who")).size() == 2; }));
    c.network().heal();
    lost.restart();
    CHECK(soon(limit, [&] { return c.is_ready(lost) && g.ready() == 6; }));
    CHECK(soon(limit, [&] { return heard(stays, g.url("who"), 20).size() == 3; }));
    CHECK(soon(limit, [&] { return fetched(lost, g.url()) == both; }));

    g.cluster.delete_pods();
    for (unsigned each : {1u, 2u, 3u}) {
      CHECK(soon(limit, [&] { return g.cluster.left_of_pods(c.at(each)).empty(); }));
      CHECK(g.cluster.left_of_pods(c.at(each)) == "");
    }
  }
  CHECK(own_network() == before);
}

TEST_CASE("the guestbook of the examples answers at its node port",
          "[network][containers][pod_network]") {
  if (!container_cluster::possible()) return;
  const auto before = own_network();
  {
    container_cluster cluster{0};
    auto& c = *cluster;
    import_guestbook(cluster);
    const auto made = c.kubectl("apply -f " TROUPE_SOURCE_DIR "/examples/guestbook.yaml");
    INFO(made.output);
    REQUIRE(made.code == 0);
    const auto available =
        c.kubectl("wait --for=condition=Available deployment --all --timeout=150s");
    INFO(available.output);
    REQUIRE(available.code == 0);
    const auto& m1 = c.control();
    const auto url = [&](const std::string& question) {
      return "'http://" + m1.address() + ":30080/cgi-bin/guestbook?" + question + "'";
    };
    // A request that comes before the rules is lost.
    CHECK(soon(limit, [&] {
      fetched(m1, url("add=hello"));
      return fetched(m1, url("")).find("hello\n") != std::string::npos;
    }));
    CHECK(soon(limit, [&] { return heard(m1, url("who"), 20).size() == 3; }));
    CHECK(c.kubectl("delete deployments --all").code == 0);
    cluster.delete_pods();
  }
  CHECK(own_network() == before);
}

namespace {

std::string pod_on(const std::string& node) {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: on-" + node +
         R"(, labels: {app: web}}
spec:
  nodeName: )" +
         node + R"(
  terminationGracePeriodSeconds: 1
  containers:
  - name: c
    image: localhost/tools:1
    imagePullPolicy: Never
    command: [sh, -c, "hostname > /tmp/index.html; exec httpd -f -p 8080 -h /tmp"]
)";
}

const char* const web_service = R"(---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  clusterIP: 10.96.0.100
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
)";

const std::string dual_service = R"(---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  clusterIP: 10.96.0.100
  clusterIPs: [10.96.0.100, "fd00:10:96::100"]
  ipFamilyPolicy: RequireDualStack
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
)";

// A pod's request through its own network, and the response.
std::string asked_from(joined_cluster& c, const std::string& pod, const std::string& host,
                       int port) {
  return c
      .kubectl("exec " + pod + " -- sh -c \"printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 3 " + host +
               " " + std::to_string(port) + " | tail -n 1\"")
      .output;
}

bool has_ready_pods(joined_cluster& c) {
  return soon(limit, [&] {
    return c.kubectl("get pods -o jsonpath='{.items[*].status.containerStatuses[*].ready}'")
               .output == "true true";
  });
}

// Routes and rules of a machine may come after its pods.
bool comes_to_ask(joined_cluster& c, const std::string& pod, const std::string& host, int port,
                  const std::string& answer) {
  return soon(limit, [&] { return asked_from(c, pod, host, port) == answer; });
}

bool comes_to_find(joined_cluster& c, const std::string& pod, const std::string& address) {
  const auto command = "exec " + pod + " -- nslookup web.default.svc.cluster.local";
  return soon(limit, [&] { return c.kubectl(command).output.find(address) != std::string::npos; });
}

std::string address_of_pod(joined_cluster& c, const std::string& pod) {
  return c.kubectl("get pod " + pod + " -o jsonpath={.status.podIP}").output;
}

const std::string streams_pod = R"(apiVersion: v1
kind: Pod
metadata: {name: streams}
spec:
  nodeName: m2
  terminationGracePeriodSeconds: 1
  containers:
  - name: c
    image: localhost/tools:1
    stdin: true
    command:
    - sh
    - -c
    - hostname > /tmp/index.html; httpd -p 8080 -h /tmp; while read line; do echo "read $line"; done
)";

// With `kubectl` and `version`. The last line shows the last line of the log.
const std::string streams_script = R"(
export KUBECONFIG=data/admin.kubeconfig
rm -rf there back enough attached forwarded
$kubectl exec streams -- hostname
echo input | $kubectl exec -i streams -- cat
mkdir there && seq 1000 > there/a
$kubectl cp there streams:/tmp/$version
$kubectl cp streams:/tmp/$version back > /dev/null 2>&1
diff -r there back && echo the same
$kubectl port-forward streams 0:8080 > forwarded 2>&1 &
forward=$!
for i in $(seq 600); do grep -qs Forwarding forwarded && break; sleep 0.1; done
curl -sS http://127.0.0.1:$(sed -n 's/.*127.0.0.1:\([0-9]*\) .*/\1/p' forwarded)/
(echo $version; for i in $(seq 600); do test -e enough && break; sleep 0.1; done) |
  timeout 60 $kubectl attach -i streams > attached 2> /dev/null &
attach=$!
for i in $(seq 600); do grep -qs "read $version" attached && break; sleep 0.1; done
touch enough
kill $forward $attach
$kubectl logs streams --tail=1
)";

// Commands, files, ports, input, logs and usage of a pod, by the API server of another machine.
void check_streams(joined_cluster& c) {
  REQUIRE(c.apply(streams_pod).code == 0);
  const bool ready = soon(limit, [&] {
    return c.kubectl("get pod streams -o jsonpath={.status.containerStatuses[0].ready}").output ==
           "true";
  });
  INFO(c.kubectl("describe pod streams").output);
  REQUIRE(ready);
  const auto all = kubectls();
  for (const auto* with : {&all.front(), &all.back()}) {
    INFO(with->version);
    const auto said = c.control().run("kubectl=" + with->path + "; version=" + with->version +
                                      "; " + streams_script);
    CHECK(said.output == "streams\ninput\nthe same\nstreams\nread " + with->version + "\n");
  }
  CHECK(soon(limit, [&] {
    return c.kubectl("top pod streams --no-headers").output.find("streams") == 0;
  }));
  CHECK(c.kubectl("delete pod streams").code == 0);
}

}  // namespace

TEST_CASE(
    "pods of two machines reach each other by address, service and name, and a machine that "
    "leaves keeps nothing",
    "[network][containers][pod_network]") {
  if (!container_cluster::possible()) return;
  const auto before = own_network();
  for (const std::string routes : {"direct", "vxlan"}) {
    INFO(routes);
    container_cluster cluster{1, {"--network-routes", routes}};
    auto& c = *cluster;
    auto& m2 = c.at(2);
    const auto made = c.apply(web_service + pod_on("m1") + pod_on("m2"));
    INFO(made.output);
    REQUIRE(made.code == 0);
    const bool ready = has_ready_pods(c);
    INFO(c.kubectl("describe pods").output);
    REQUIRE(ready);
    CHECK(comes_to_ask(c, "on-m1", address_of_pod(c, "on-m2"), 8080, "on-m2\n"));
    CHECK(comes_to_ask(c, "on-m2", address_of_pod(c, "on-m1"), 8080, "on-m1\n"));
    for (const auto* pod : {"on-m1", "on-m2"}) {
      const auto names = [&] {
        std::set<std::string> out;
        for (int i = 0; i < 12; ++i)
          out.insert(asked_from(c, pod, "10.96.0.100", 80));
        return out;
      };
      CHECK(soon(limit, [&] { return names() == std::set<std::string>{"on-m1\n", "on-m2\n"}; }));
      CHECK(comes_to_find(c, pod, "10.96.0.100"));
    }
    if (routes == "direct") check_streams(c);
    CHECK_THAT(m2.run("ip route").output,
               Contains(routes == "vxlan" ? "dev troupe-vx proto 84" : "dev net0 proto 84"));
    CHECK(c.kubectl("delete pod on-m2").code == 0);
    const auto left = m2.run("troupe leave --data-dir data");
    INFO(left.output);
    CHECK(left.code == 0);
    CHECK(m2.run("ip route | grep -v net0; ip -o link | grep -v -e lo: -e net0").output.empty());
    CHECK(m2.run("nft list tables | grep troupe").output.empty());
    CHECK_FALSE(fs::exists(cluster.runtime(m2).folder() / "net.d/10-troupe.conflist"));
    cluster.delete_pods();
    for (unsigned each : {1u, 2u}) {
      CHECK(soon(limit, [&] { return cluster.left_of_pods(c.at(each)).empty(); }));
      CHECK(cluster.left_of_pods(c.at(each)) == "");
    }
  }
  CHECK(own_network() == before);
}

TEST_CASE("pods of two families on two machines are reached by IPv6 address, service and name",
          "[network][containers][pod_network]") {
  if (!container_cluster::possible() || !can_try_ipv6()) return;
  const auto before = own_network();
  {
    container_cluster cluster{1,
                              {"--network-pod-cidrs", "10.42.0.0/16,fd00:42::/56",
                               "--network-service-cidrs", "10.96.0.0/12,fd00:10:96::/112"}};
    auto& c = *cluster;
    const auto made = c.apply(dual_service + pod_on("m1") + pod_on("m2"));
    INFO(made.output);
    REQUIRE(made.code == 0);
    const bool ready = has_ready_pods(c);
    INFO(c.kubectl("describe pods").output);
    REQUIRE(ready);
    const auto of_pod = [&](const std::string& pod) {
      return c.kubectl("get pod " + pod + " -o jsonpath={.status.podIPs[1].ip}").output;
    };
    const auto of_m2 = of_pod("on-m2");
    CHECK_THAT(of_m2, Catch::StartsWith("fd00:42:"));
    CHECK(comes_to_ask(c, "on-m1", of_m2, 8080, "on-m2\n"));
    CHECK(comes_to_ask(c, "on-m2", of_pod("on-m1"), 8080, "on-m1\n"));
    CHECK(soon(limit, [&] {
      return c.kubectl("get endpointslices").output.find(of_m2) != std::string::npos;
    }));
    std::set<std::string> names;
    CHECK(soon(limit, [&] {
      names.insert(asked_from(c, "on-m1", "fd00:10:96::100", 80));
      return names.contains("on-m1\n") && names.contains("on-m2\n");
    }));
    CHECK(comes_to_find(c, "on-m1", "fd00:10:96::100"));
    CHECK(c.kubectl("exec on-m1 -- grep -c on-m1 /etc/hosts").output == "2\n");
    cluster.delete_pods();
  }
  CHECK(own_network() == before);
}
