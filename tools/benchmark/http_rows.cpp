#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"

namespace troupe::bench {
namespace {

constexpr const char* maps = "/api/v1/namespaces/default/configmaps";

std::string map_json(const std::string& name, std::uint64_t color) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{{"color":"{}","d":"{}"}}}})",
      name, color, std::string(900, 'x'));
}

load_request map_request(const char* method, std::string path, std::string name, std::uint64_t n) {
  return {method, std::move(path), map_json(std::move(name), n), "application/json"};
}

void measure_at(results& out, const node& n, std::size_t connections) {
  const auto add = [&](const char* operation, const load_result& result,
                       std::optional<bar> wanted) {
    out.add(fmt::format("HTTP {} over TLS, {} connection{}", operation, connections,
                        connections == 1 ? "" : "s"),
            result.per_second(), "/s", connections == 32 ? wanted : std::nullopt);
  };
  auto load = n.load();
  load.connections = connections;
  load.next = [=](std::uint64_t i) {
    return map_request("POST", maps, fmt::format("m{}-{}", connections, i), 0);
  };
  // The disk of a shared machine differs from minute to minute.
  const double sync_us = connections == 1 ? sync_p50_us() : 0;
  const auto created = must_run(load);
  add("creates", created, at_least(8'000));
  if (connections == 1)
    out.add("… one durable write, p50, in fdatasyncs of 1 KB", created.percentile(50) / sync_us,
            "x", at_most(3));
  // Each connection mostly changes objects of its own; updates name no revision, so none fails.
  const auto objects = std::clamp<std::uint64_t>(created.answers, 1, 1'000);
  load.next = [=](std::uint64_t i) {
    auto name = fmt::format("m{}-{}", connections, i % objects);
    return map_request("PUT", fmt::format("{}/{}", maps, name), name, i);
  };
  add("updates", must_run(load), {});
  load.next = [=](std::uint64_t i) {
    return load_request{"GET", fmt::format("{}/m{}-{}", maps, connections, i % objects), {}, {}};
  };
  add("gets", must_run(load), at_least(30'000));
}

void measure_lists(results& out, const node& n) {
  auto client = n.client();
  for (int i = 0; i < 1000; ++i)
    client.request("POST", "/api/v1/namespaces/kube-public/configmaps",
                   map_json(fmt::format("m{}", i), 0), {{"content-type", "application/json"}});
  for (const std::size_t connections : {1, 8, 32}) {
    auto load = n.load();
    load.connections = connections;
    load.next = [](std::uint64_t) {
      return load_request{"GET", "/api/v1/namespaces/kube-public/configmaps", {}, {}};
    };
    out.add(fmt::format("HTTP lists of 1,000 maps of 1 KB over TLS, {} connection{}", connections,
                        connections == 1 ? "" : "s"),
            must_run(load).per_second(), "/s");
  }
}

// In a namespace with a quota, to which each object is charged.
void measure_quota(results& out, const node& n) {
  const std::string to_namespaces = "/api/v1/namespaces";
  const std::string bounded = to_namespaces + "/bounded";
  auto client = n.client();
  const auto post = [&](const std::string& path, const char* object) {
    client.request("POST", path, object, {{"content-type", "application/json"}});
  };
  post(to_namespaces, R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"bounded"}})");
  post(bounded + "/resourcequotas",
       R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"maps"},"spec":{"hard":{
"count/configmaps":"10000000"}}})");
  auto load = n.load();
  load.connections = 32;
  load.next = [path = bounded + "/configmaps"](std::uint64_t i) {
    return map_request("POST", path, fmt::format("q{}", i), 0);
  };
  out.add("HTTP creates against a quota over TLS, 32 connections", must_run(load).per_second(),
          "/s", at_least(5'000));
}

// Applies to a thousand deployments without pods, so that only the apply is measured.
load_request apply_request(std::uint64_t n, std::uint64_t note) {
  const auto name = fmt::format("d{}", n % 1000);
  return {"PATCH", "/apis/apps/v1/namespaces/default/deployments/" + name + "?fieldManager=bench",
          fmt::format(R"({{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"{}",
"labels":{{"app":"web","tier":"front"}},"annotations":{{"note":"n{}"}}}},"spec":{{"replicas":0,
"selector":{{"matchLabels":{{"app":"web"}}}},"template":{{"metadata":{{"labels":{{"app":"web"}}}},
"spec":{{"containers":[{{"name":"web","image":"nginx:1","ports":[{{"containerPort":80}}],
"env":[{{"name":"A","value":"1"}},{{"name":"B","value":"2"}}],
"resources":{{"limits":{{"cpu":"1","memory":"64Mi"}}}}}}]}}}}}}}})",
                      name, note),
          "application/apply-patch+yaml"};
}

void measure_applies(results& out, const node& n) {
  auto load = n.load();
  load.connections = 32;
  load.next = [](std::uint64_t i) { return apply_request(i, 0); };
  out.add("HTTP server-side applies of a Deployment without a change, 32 connections",
          must_run(load).per_second(), "/s", at_least(8'000));
  load.next = [](std::uint64_t i) { return apply_request(i, i); };
  out.add("… with one field changed", must_run(load).per_second(), "/s", at_least(5'000));
}

constexpr const char* first_controller =
    R"({"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"first"},"spec":{
"replicas":1,"selector":{"app":"first"},"template":{"metadata":{"labels":{"app":"first"}},
"spec":{"containers":[{"name":"c","image":"x"}]}}}})";

}  // namespace

void measure_start(results& out, const bench_options& options) {
  const scratch place;
  const node n{options.program, place.path(), 1};
  out.add("cold start to ready", n.ready_ms(), "ms", at_most(150));
  auto client = n.client();
  const std::string path = "/api/v1/namespaces/default/replicationcontrollers";
  client.request("POST", path, first_controller, {{"content-type", "application/json"}});
  while (client.get(path + "/first").body.find("\"readyReplicas\":1") == std::string::npos)
    if (seconds_since(n.started()) > 30) die("the first pod did not come");
  out.add("… to the first pod Running", seconds_since(n.started()) * 1e3, "ms", at_most(300));
  std::this_thread::sleep_for(std::chrono::seconds{2});
  out.add("idle memory", n.memory_mb(), "MB", at_most(40));
}

void measure_http(results& out, const bench_options& options) {
  const scratch place;
  const node n{options.program, place.path(), 1};
  for (const std::size_t connections : {1, 8, 32})
    measure_at(out, n, connections);
  measure_lists(out, n);
  measure_quota(out, n);
  measure_applies(out, n);
}

}  // namespace troupe::bench
