// The nodes' statistics: /stats/summary, /metrics/resource, /metrics/cadvisor.
#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/pointer.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>

#include "actors/link/node_gateway.hpp"
#include "actors/link/node_links.hpp"
#include "api/scheme.hpp"
#include "server/console/handlers/node_console.hpp"
#include "server/rest/measured_cluster.hpp"
#include "server/rest/usage/measured_node.hpp"
#include "support/link/loopback.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using api::core::v1::Node;
using api::core::v1::Pod;
using Catch::Matchers::Contains;

namespace {

// 2023-11-14T22:13:20Z; the figures are 20 s older.
constexpr std::int64_t now_seconds = 1'700'000'000;

std::unique_ptr<Pod> running_pod() {
  auto pod = std::make_unique<Pod>();
  pod->mutable_metadata()->set_name("web");
  pod->mutable_metadata()->set_namespace_("shop");
  pod->mutable_metadata()->set_uid("u1");
  auto& status = *pod->mutable_status();
  status.set_qos_class("Burstable");
  status.mutable_start_time()->set_seconds(now_seconds - 200);
  for (const char* name : {"a", "b", "ended"}) {
    pod->mutable_spec()->add_containers()->set_name(name);
    auto& container = *status.add_container_statuses();
    container.set_name(name);
    container.set_image("docker.io/library/nginx:1");
    container.set_container_id(std::string{"containerd://id-"} + name);
    if (name == std::string{"ended"}) continue;
    container.mutable_state()->mutable_running()->mutable_started_at()->set_seconds(now_seconds -
                                                                                    100);
  }
  auto& limits = *pod->mutable_spec()->mutable_containers(0)->mutable_resources()->mutable_limits();
  limits["cpu"].set_string("250m");
  limits["memory"].set_string("64Mi");
  return pod;
}

actors::resource_usage figure(std::uint64_t seconds, std::uint64_t bytes) {
  return {.cpu_nano = 250'000'000,
          .memory_bytes = bytes,
          .window = std::chrono::seconds{10},
          .cpu_ns = seconds * 1'000'000'000,
          .all_memory_bytes = bytes * 2,
          .rss_bytes = bytes / 2};
}

struct node_of_test {
  node_of_test() {
    node.mutable_metadata()->set_name("n1");
    auto& status = *node.mutable_status();
    (*status.mutable_capacity())["cpu"].set_string("4");
    (*status.mutable_capacity())["memory"].set_string("8Gi");
    status.mutable_node_info()->set_machine_id("m");
    status.mutable_node_info()->set_boot_id("b");
    pods.push_back(std::make_shared<const api::object>(api::kind_of<Pod>(), running_pod(), 1));
    usage.age = std::chrono::seconds{20};
    usage.up = std::chrono::seconds{1'000};
    usage.machine = figure(5'000, 4'000);
    usage.supplies = {.memory = {96, 100}, .disk = {60, 100}, .inodes = {6, 10}, .pids = {90, 100}};
    usage.supplies.images = {70, 200};
    usage.containers = {{"u1", "a", figure(7, 1'000)},
                        {"u1", "b", figure(3, 500)},
                        {"u1", "ended", figure(1, 100)},
                        {"another node's", "a", figure(1, 100)}};
  }
  server::measured_node of() const { return {node, pods, usage, {now_seconds, 0}}; }

  Node node;
  std::vector<api::object_ptr> pods;
  actors::node_usage usage;
};

struct summary {
  explicit summary(const std::string& text) : text{text} { document.Parse(text.c_str()); }
  // As text, whatever its type; "none" if it is missing.
  std::string at(const char* pointer) const {
    const auto* value = rapidjson::Pointer{pointer}.Get(document);
    if (value == nullptr) return "none";
    if (value->IsString()) return value->GetString();
    return value->IsUint64() ? std::to_string(value->GetUint64()) : "a value";
  }
  const std::string text;
  rapidjson::Document document;
};

}  // namespace

TEST_CASE("a node's summary shows usage and remaining resources of machine, pods and containers") {
  const node_of_test t;
  const summary seen{server::stats_summary(t.of(), false)};
  INFO(seen.text);
  CHECK(seen.at("/node/nodeName") == "n1");
  CHECK(seen.at("/node/startTime") == "2023-11-14T21:56:20Z");
  CHECK(seen.at("/node/cpu/time") == "2023-11-14T22:13:00Z");
  CHECK(seen.at("/node/cpu/usageNanoCores") == "250000000");
  CHECK(seen.at("/node/cpu/usageCoreNanoSeconds") == "5000000000000");
  CHECK(seen.at("/node/memory/availableBytes") == "96");
  CHECK(seen.at("/node/memory/usageBytes") == "8000");
  CHECK(seen.at("/node/memory/workingSetBytes") == "4000");
  CHECK(seen.at("/node/memory/rssBytes") == "2000");
  CHECK(seen.at("/node/fs/availableBytes") == "60");
  CHECK(seen.at("/node/fs/capacityBytes") == "100");
  CHECK(seen.at("/node/fs/usedBytes") == "40");
  CHECK(seen.at("/node/fs/inodesFree") == "6");
  CHECK(seen.at("/node/fs/inodesUsed") == "4");
  CHECK(seen.at("/node/runtime/imageFs/capacityBytes") == "200");
  CHECK(seen.at("/node/runtime/imageFs/usedBytes") == "130");
  CHECK(seen.at("/node/rlimit/maxpid") == "100");
  CHECK(seen.at("/node/rlimit/curproc") == "10");
  CHECK(seen.at("/pods/0/podRef/name") == "web");
  CHECK(seen.at("/pods/0/podRef/namespace") == "shop");
  CHECK(seen.at("/pods/0/podRef/uid") == "u1");
  CHECK(seen.at("/pods/0/startTime") == "2023-11-14T22:10:00Z");
  CHECK(seen.at("/pods/0/cpu/usageCoreNanoSeconds") == "10000000000");
  CHECK(seen.at("/pods/0/memory/workingSetBytes") == "1500");
  CHECK(seen.at("/pods/0/containers/1/name") == "b");
  CHECK(seen.at("/pods/0/containers/1/startTime") == "2023-11-14T22:11:40Z");
  CHECK(seen.at("/pods/0/containers/1/memory/workingSetBytes") == "500");
  CHECK(seen.at("/pods/0/containers/2/name") == "none");
  CHECK(seen.at("/pods/1/podRef/name") == "none");
}

TEST_CASE("the network counters of a pod with an address of its own are shown") {
  node_of_test t;
  t.usage.networks = {{.address = "10.42.0.5",
                       .rx_bytes = 1,
                       .rx_packets = 2,
                       .rx_errors = 3,
                       .rx_dropped = 4,
                       .tx_bytes = 5,
                       .tx_packets = 6,
                       .tx_errors = 7,
                       .tx_dropped = 8}};
  CHECK(summary{server::stats_summary(t.of(), false)}.at("/pods/0/network/name") == "none");
  auto pod = running_pod();
  pod->mutable_status()->set_pod_ip("10.42.0.5");
  const auto place = [&](bool host_network) {
    pod->mutable_spec()->set_host_network(host_network);
    t.pods = {
        std::make_shared<const api::object>(api::kind_of<Pod>(), std::make_unique<Pod>(*pod), 1)};
  };
  place(false);
  const summary seen{server::stats_summary(t.of(), false)};
  INFO(seen.text);
  CHECK(seen.at("/pods/0/network/time") == "2023-11-14T22:13:00Z");
  CHECK(seen.at("/pods/0/network/name") == "eth0");
  CHECK(seen.at("/pods/0/network/rxBytes") == "1");
  CHECK(seen.at("/pods/0/network/rxErrors") == "3");
  CHECK(seen.at("/pods/0/network/txBytes") == "5");
  CHECK(seen.at("/pods/0/network/interfaces/0/txErrors") == "7");
  CHECK(summary{server::stats_summary(t.of(), true)}.at("/pods/0/network/name") == "none");
  const auto text = server::cadvisor_metrics(t.of());
  CHECK_THAT(text, Contains("container_network_receive_packets_dropped_total{container=\"\",id=\"/"
                            "kubepods/burstable/podu1\",image=\"\",interface=\"eth0\",name=\"\","
                            "namespace=\"shop\",pod=\"web\"} 4 "));
  CHECK_THAT(text, Contains("container_network_transmit_packets_total{"));
  place(true);
  CHECK(summary{server::stats_summary(t.of(), false)}.at("/pods/0/network/name") == "none");
}

TEST_CASE("a summary leaves out disks where only processors and memory are wanted") {
  node_of_test t;
  const summary seen{server::stats_summary(t.of(), true)};
  CHECK(seen.at("/node/memory/availableBytes") == "96");
  CHECK(seen.at("/node/fs/capacityBytes") == "none");
  CHECK(seen.at("/node/rlimit/maxpid") == "none");
  // The same for a node that does not know them.
  t.usage.supplies = {};
  t.usage.up = {};
  t.node.mutable_metadata()->mutable_creation_timestamp()->set_seconds(0);
  const summary unknown{server::stats_summary(t.of(), false)};
  CHECK(unknown.at("/node/startTime") == "1970-01-01T00:00:00Z");
  CHECK(unknown.at("/node/memory/availableBytes") == "none");
  CHECK(unknown.at("/node/fs/capacityBytes") == "none");
}

TEST_CASE("a node's resource metrics are upstream's, each with its time") {
  const node_of_test t;
  const auto text = server::resource_metrics(t.of());
  INFO(text);
  const std::string time = " 1699999980000\n";
  for (const char* line :
       {R"(container_cpu_usage_seconds_total{container="a",namespace="shop",pod="web"} 7)",
        R"(container_memory_working_set_bytes{container="b",namespace="shop",pod="web"} 500)",
        R"(container_start_time_seconds{container="a",namespace="shop",pod="web"} 1699999900)",
        "node_cpu_usage_seconds_total 5000", "node_memory_working_set_bytes 4000",
        R"(pod_cpu_usage_seconds_total{namespace="shop",pod="web"} 10)",
        R"(pod_memory_working_set_bytes{namespace="shop",pod="web"} 1500)"})
    CHECK_THAT(text, Contains("\n" + (line + time)));
  CHECK_THAT(text, Contains("\nresource_scrape_error 0\n") && Contains("\nscrape_error 0\n"));
  CHECK_THAT(text, Contains("# TYPE node_cpu_usage_seconds_total counter\n"));
  CHECK_THAT(text, !Contains("ended"));
}

TEST_CASE("a node's cadvisor metrics are of the machine, its pods and their containers") {
  const node_of_test t;
  const auto text = server::cadvisor_metrics(t.of());
  INFO(text);
  const std::string pod = R"(namespace="shop",pod="web"})";
  const std::string group = "/kubepods/burstable/podu1";
  const auto a =
      fmt::format(R"(id="{}/id-a",image="docker.io/library/nginx:1",name="id-a",{})", group, pod);
  const std::string root = R"(id="/",image="",name="",namespace="",pod=""})";
  for (const auto& line :
       {R"(container_cpu_usage_seconds_total{container="a",cpu="total",)" + a + " 7",
        R"(container_cpu_usage_seconds_total{container="",cpu="total",)" + root + " 5000",
        R"(container_memory_usage_bytes{container="a",)" + a + " 2000",
        R"(container_memory_working_set_bytes{container="a",)" + a + " 1000",
        R"(container_memory_working_set_bytes{container="",id=")" + group +
            R"(",image="",name="",)" + pod + " 1500",
        R"(container_memory_rss{container="a",)" + a + " 500",
        R"(container_start_time_seconds{container="a",)" + a + " 1699999900",
        R"(container_spec_cpu_quota{container="a",)" + a + " 25000\n",
        R"(container_spec_memory_limit_bytes{container="a",)" + a + " 67108864\n",
        std::string{R"(machine_cpu_cores{boot_id="b",machine_id="m",system_uuid=""} 4)"} + "\n"})
    CHECK_THAT(text, Contains("\n" + line));
  CHECK_THAT(text, Contains("machine_memory_bytes{") && Contains("} 8589934592\n"));
  CHECK_THAT(text, !Contains("container_spec_cpu_quota{container=\"b\""));
}

TEST_CASE("cadvisor's ids are systemd's units on a node whose control groups are") {
  node_of_test t;
  t.usage.systemd_groups = true;
  const auto text = server::cadvisor_metrics(t.of());
  INFO(text);
  const std::string group =
      R"(,id="/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu1.slice)";
  CHECK_THAT(text, Contains(R"(container_memory_rss{container="")" + group + R"(",image="")"));
  CHECK_THAT(text, Contains(R"(container_memory_rss{container="a")" + group +
                            R"(/cri-containerd-id-a.scope",image=)"));
}

namespace {

std::string stats(const std::string& node, const std::string& path = "stats/summary") {
  return "/api/v1/nodes/" + node + "/proxy/" + path;
}

void start_container(rest_test& server, const std::string& pod) {
  const auto done = server.request(
      "PATCH", "/api/v1/namespaces/default/pods/" + pod + "/status",
      R"({"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"i","ready":true,)"
      R"("restartCount":0,"state":{"running":{"startedAt":"2023-11-14T22:13:20Z"}}}]}})",
      {{"content-type", "application/merge-patch+json"}});
  REQUIRE(done.status == 200);
}

}  // namespace

TEST_CASE("a node's stats are read through its proxy") {
  measured_cluster t;
  t.run_pod("web");
  start_container(t.server, "web");
  const auto seen = t.server.get(stats("here"));
  INFO(seen.text());
  REQUIRE(seen.status == 200);
  CHECK(seen.at("node.nodeName") == "here");
  CHECK(seen.at("pods.0.podRef.name") == "web");
  CHECK(seen.at("pods.0.containers.0.name") == "c");
  CHECK(seen.has("node.fs"));
  CHECK_FALSE(t.server.get(stats("here") + "?only_cpu_and_memory=true").has("node.fs"));
  const auto metrics = t.server.get(stats("here:10250", "metrics/resource"));
  CHECK(metrics.status == 200);
  CHECK_THAT(metrics.text(), Contains("pod_cpu_usage_seconds_total{namespace=\"default\","));
  CHECK_THAT(t.server.get(stats("here", "metrics/cadvisor")).text(),
             Contains("container_memory_working_set_bytes{container=\"c\","));
  t.add_node("silent");
  for (const char* path : {"stats/summary", "metrics/resource", "metrics/cadvisor"}) {
    const auto answer = t.server.get(stats("silent", path));
    CHECK(answer.status == 503);
    CHECK(answer.at("message") ==
          "error trying to reach service: node silent does not say what it uses");
  }
  CHECK(t.server.get(stats("none")).status == 404);
  CHECK_THAT(t.server.get(stats("here", "stats/container")).text(), Contains("/stats/summary"));
  CHECK(t.server.post(stats("here"), "{}").status == 404);
}

TEST_CASE("a joined node's stats come over its link") {
  measured_cluster t;
  t.add_node("n1", R"("annotations":{"troupe.dev/node-key":"sha256:n1"})");
  const auto uid = t.add_pod("far", "n1");
  start_container(t.server, "far");
  runtime::actor_system system;  // the node's
  spawn_meter(system, "n1", std::make_shared<measured_pods>(measured_pods{uid}));
  const auto gateway = actors::spawn_gateway(system, {.node = "n1"});
  CHECK(t.server.get(stats("n1")).status == 503);
  auto line = test::make_loopback({"system:node:n1", {"system:nodes"}, "sha256:n1", {}},
                                  actors::gateway_acceptor(gateway), {"plane", {}, {}, {}},
                                  t.server.plane().links().acceptor());
  REQUIRE(t.server.eventually([&] { return t.server.plane().links().table().connected("n1"); }));
  const auto seen = t.server.get(stats("n1"));
  INFO(seen.text());
  REQUIRE(seen.status == 200);
  CHECK(seen.at("node.fs.capacityBytes") == "100");
  CHECK(seen.at("node.memory.availableBytes") == "3221225472");
  CHECK(seen.at("pods.0.containers.0.memory.workingSetBytes") == "2097152");
  CHECK(seen.at("pods.0.cpu.usageCoreNanoSeconds") != "0");
}

TEST_CASE("a node's own counters are read through its proxy, also over a link") {
  measured_cluster t;
  const auto here = t.server.get(stats("here", "metrics"));
  CHECK(here.status == 200);
  CHECK_THAT(here.headers.at("content-type"), Contains("text/plain; version=0.0.4"));
  CHECK_THAT(here.text(),
             Contains("\nkubelet_running_pods ") && Contains("\nprocess_start_time_seconds "));
  t.add_node("n1", R"("annotations":{"troupe.dev/node-key":"sha256:n1"})");
  const auto message = [&] {
    const auto answer = t.server.get(stats("n1", "metrics"));
    CHECK(answer.status == 503);
    return answer.at("message");
  };
  CHECK(message() == "error trying to reach service: node n1 is not connected");
  runtime::actor_system system;  // the node's
  server::node_console console{system, "n1"};
  std::atomic<int> failure = 0;  // the status with which the node answers instead
  actors::gateway_options options{.node = "n1"};
  options.console = [&](const actors::console_request& request, auto done) {
    if (failure != 0) return done({failure.load(), "no"});
    console.ask({request.target}, [done](const server::console_answer& answer) {
      done({answer.status, answer.body, answer.total});
    });
  };
  const auto gateway = actors::spawn_gateway(system, options);
  auto line = test::make_loopback({"system:node:n1", {"system:nodes"}, "sha256:n1", {}},
                                  actors::gateway_acceptor(gateway), {"plane", {}, {}, {}},
                                  t.server.plane().links().acceptor());
  REQUIRE(t.server.eventually([&] { return t.server.plane().links().table().connected("n1"); }));
  const auto far = t.server.get(stats("n1", "metrics"));
  CHECK(far.status == 200);
  CHECK_THAT(far.text(), Contains("\nkubelet_running_pods "));
  failure = 404;
  CHECK_THAT(message(), Contains("node n1 is too old to serve its metrics"));
  failure = 429;
  CHECK_THAT(message(), Contains("node n1 is too busy to answer"));
  line.cut();
}

TEST_CASE("a simulated node's stats are those of its pods' annotations") {
  measured_cluster t;
  const auto made = t.server.post("/api/v1/nodes", R"({"metadata":{"name":"s1"},"status":{
      "conditions":[{"type":"Ready","status":"True"}],
      "nodeInfo":{"containerRuntimeVersion":"simulated://1"}}})");
  REQUIRE(made.status == 201);
  CHECK(t.server.get(stats("s1")).status == 200);
  CHECK_THAT(t.server.get(stats("s1", "metrics/resource")).text(),
             Contains("resource_scrape_error 0\n") && !Contains("node_cpu_usage_seconds_total"));
  CHECK(t.server.get(stats("s1", "metrics")).text().empty());
}
