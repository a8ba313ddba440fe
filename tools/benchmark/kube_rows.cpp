// Troupe and Kubernetes 1.20, each over an etcd of its own on the same disk, do the same work, one
// after the other: ConfigMaps that 32 connections create, and pods of a controller that are bound
// to nodes. The nodes have no kubelet on either side.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "benchmark/kube_cluster.hpp"
#include "benchmark/map_load.hpp"
#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"
#include "etcd/etcd_server.hpp"
#include "support/http_client.hpp"

namespace troupe::bench {
namespace {

constexpr int rounds = 3;
constexpr std::uint64_t maps = 20'000;
constexpr std::size_t connections = 32;
constexpr int nodes = 10;
constexpr int pods = 1'000;
constexpr double limit_s = 300;  // of each wait
constexpr std::chrono::milliseconds look_interval{20};
constexpr std::chrono::seconds idle_time{10};
constexpr const char* pods_path = "/api/v1/namespaces/default/pods";
constexpr const char* pod_spec =
    R"({"nodeSelector":{"bench":"pods"},"containers":[{"name":"c","image":"x"}]})";

// One of the two.
struct side {
  test::wire_options address;
  std::string bearer_token;           // if there is no certificate
  std::function<double()> memory_mb;  // of the API server
};

struct measured {
  double idle_mb = 0, creates_per_second = 0, bound_s = 0, worked_mb = 0;
};

class api_client {
 public:
  explicit api_client(const side& of) : client_{of.address} {
    if (!of.bearer_token.empty()) headers_["authorization"] = "Bearer " + of.bearer_token;
  }

  test::http_answer send(const std::string& method, const std::string& path,
                         const std::string& body = {},
                         const std::string& type = "application/json") {
    auto headers = headers_;
    if (!body.empty()) headers["content-type"] = type;
    return client_.request(method, path, body, headers);
  }
  void must_send(const std::string& method, const std::string& path, const std::string& body = {},
                 const std::string& type = "application/json") {
    if (const auto answer = send(method, path, body, type); answer.status / 100 != 2)
      die(fmt::format("{} {}: {}", method, path, answer.body));
  }
  // Then only next_chunk() may be called.
  void watch(const std::string& path) {
    client_.send_request("GET", path, {}, headers_);
    if (client_.receive_head().status != 200) die("no watch");
  }
  std::optional<std::string> next_chunk() { return client_.next_chunk(); }

 private:
  test::http_client client_;
  test::http_client::fields headers_;
};

void wait_for(const std::string& condition, const std::function<bool()>& done) {
  for (const auto start = clock::now(); !done();) {
    if (seconds_since(start) > limit_s) die("it did not come to this: " + condition);
    std::this_thread::sleep_for(look_interval);
  }
}

// Nodes that are Ready, without a kubelet.
void create_nodes(api_client& to) {
  const std::string merge = "application/merge-patch+json", path = "/api/v1/nodes";
  const std::string room = R"({"cpu":"64","memory":"256Gi","pods":"200"})";
  const auto now = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  for (int i = 0; i < nodes; ++i) {
    const auto name = fmt::format("bench-{}", i), one = path + "/" + name;
    to.must_send(
        "POST", path,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}","labels":{{"bench":"pods"}}}}}})",
            name));
    to.must_send("PATCH", one + "/status",
                 fmt::format(R"({{"status":{{"capacity":{0},"allocatable":{0},"conditions":[)"
                             R"({{"type":"Ready","status":"True","reason":"Bench",)"
                             R"("lastHeartbeatTime":"{1}","lastTransitionTime":"{1}"}}]}}}})",
                             room, now),
                 merge);
    to.must_send("PATCH", one, R"({"spec":{"taints":null}})", merge);
  }
}

// Waits until controllers and scheduler work: a pod is admitted and bound.
void wait_for_work(api_client& to) {
  const std::string one = std::string{pods_path} + "/first";
  wait_for("a pod can be created", [&] {
    return to.send(
                 "POST", pods_path,
                 fmt::format(
                     R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"first"}},"spec":{}}})",
                     pod_spec))
               .status == 201;
  });
  wait_for("a pod is bound", [&] {
    return to.send("GET", one).body.find("\"nodeName\":\"bench-") != std::string::npos;
  });
  to.must_send("DELETE", one + "?gracePeriodSeconds=0");
}

double creates_per_second(const side& of) {
  load_options load;
  load.port = of.address.port;
  load.certificate = of.address.certificate;
  load.private_key = of.address.private_key;
  load.bearer_token = of.bearer_token;
  load.duration = std::chrono::minutes{2};
  load.requests = maps;
  const auto result = must_run(map_creates(load, "m", connections, 1));
  if (result.answers < maps) die("the objects were not created in two minutes");
  return result.per_second();
}

// From the request until a watch has shown all pods of one controller with a node.
double bound_s(const side& of, api_client& to) {
  constexpr std::string_view added = R"({"type":"ADDED")";
  api_client watch{of};
  watch.watch(std::string{pods_path} +
              "?watch=true&labelSelector=app%3Dload&fieldSelector=spec.nodeName%21%3D");
  const auto start = clock::now();
  to.must_send(
      "POST", "/api/v1/namespaces/default/replicationcontrollers",
      fmt::format(
          R"({{"apiVersion":"v1","kind":"ReplicationController","metadata":{{"name":"load"}},"spec":{{)"
          R"("replicas":{},"selector":{{"app":"load"}},"template":{{"metadata":{{"labels":{{"app":"load"}}}},"spec":{}}}}}}})",
          pods, pod_spec));
  std::string text;
  for (int bound = 0; bound < pods;) {
    const auto chunk = watch.next_chunk();
    if (!chunk || seconds_since(start) > limit_s)
      die(fmt::format("{} of {} pods were bound", bound, pods));
    text += *chunk;
    std::size_t at = 0;
    for (auto found = text.find(added); found != text.npos; found = text.find(added, at)) {
      at = found + added.size();
      ++bound;
    }
    text.erase(0, std::max(at, text.size() - std::min(text.size(), added.size() - 1)));
  }
  return seconds_since(start);
}

measured work(const side& of) {
  measured out;
  api_client client{of};
  create_nodes(client);
  wait_for_work(client);
  std::this_thread::sleep_for(idle_time);
  out.idle_mb = of.memory_mb();
  out.creates_per_second = creates_per_second(of);
  out.bound_s = bound_s(of, client);
  out.worked_mb = of.memory_mb();
  return out;
}

measured work_of_troupe(const std::string& program) {
  const test::etcd_server etcd;
  const scratch place;
  const node n{
      program,
      place.path(),
      1,
      {"--store", "etcd", "--etcd-endpoints", etcd.endpoint(), "--minions-grace-period", "10m"}};
  return work({n.address(), {}, [&] { return n.memory_mb(); }});
}

// Adds the memory of the three programs after the work to `all_mb`.
measured work_of_kube(std::vector<double>& all_mb) {
  const scratch place;
  const kube_cluster kube{place.path() + "/kube"};
  const auto out =
      work({kube.address(), kube.bearer_token(), [&] { return kube.server_memory_mb(); }});
  all_mb.push_back(kube.memory_mb());
  return out;
}

struct comparison {
  const char* name;
  const char* unit;
  double measured::*figure;
  const char* result;
  const char* result_unit;
  double (*compare)(double ours, double theirs);
  bar wanted;
};
constexpr std::array<comparison, 4> comparisons{{
    {"creates over etcd, 32 connections",
     "/s",
     &measured::creates_per_second,
     "ours over theirs",
     "x",
     [](double ours, double theirs) { return ours / theirs; },
     {bar::side::at_least, 2}},
    {"one RC 0 to 1,000 pods over etcd: all bound",
     "s",
     &measured::bound_s,
     "theirs over ours",
     "x",
     [](double ours, double theirs) { return theirs / ours; },
     {bar::side::at_least, 2}},
    {"idle memory over etcd",
     "MB",
     &measured::idle_mb,
     "ours of theirs",
     "%",
     [](double ours, double theirs) { return ours / theirs * 100; },
     {bar::side::at_most, 15}},
    {"memory after 20,000 objects and 1,000 pods",
     "MB",
     &measured::worked_mb,
     "ours of theirs",
     "%",
     [](double ours, double theirs) { return ours / theirs * 100; },
     {bar::side::at_most, 15}},
}};

// Medians of both sides and of the results of the pairs.
void add_rows(results& out, const comparison& of, const std::vector<measured>& troupe,
              const std::vector<measured>& kube) {
  std::vector<double> ours, theirs, compared;
  for (std::size_t i = 0; i < troupe.size(); ++i) {
    ours.push_back(troupe[i].*of.figure);
    theirs.push_back(kube[i].*of.figure);
    compared.push_back(of.compare(ours.back(), theirs.back()));
  }
  out.add(fmt::format("{}, kube-apiserver 1.20", of.name), percentile(theirs, 50), of.unit);
  out.add("… Troupe", percentile(ours, 50), of.unit);
  out.add(fmt::format("… {}", of.result), percentile(compared, 50), of.result_unit, of.wanted);
}

}  // namespace

void measure_kube(results& out, const bench_options& options) {
  if (const auto lacks = kube_cluster::missing(); !lacks.empty()) {
    std::fprintf(stderr, "Kubernetes 1.20 is not measured: %s\n", lacks.c_str());
    return;
  }
  std::vector<measured> troupe, kube;
  std::vector<double> all_mb;
  for (int round = 0; round < rounds; ++round) {
    kube.push_back(work_of_kube(all_mb));
    troupe.push_back(work_of_troupe(options.program));
  }
  for (const auto& each : comparisons)
    add_rows(out, each, troupe, kube);
  out.add("… kube-apiserver, its controllers and its scheduler", percentile(all_mb, 50), "MB");
}

}  // namespace troupe::bench
