#include "api/tables/table.hpp"

#include <catch2/catch.hpp>

#include "api/codec/json_dom.hpp"
#include "api/manifests.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/tables/age.hpp"
#include "support/random_message.hpp"

using namespace troupe;
using namespace troupe::api;

namespace {

constexpr std::int64_t now = 1'700'000'000;

object_ptr object_of(std::string_view yaml) {
  auto made = test::object_from(yaml);
  auto& meta = meta_of(*made.content);
  if (!meta.has_creation_timestamp()) meta.mutable_creation_timestamp()->set_seconds(now - 65);
  return std::make_shared<const object>(*made.kind, std::move(made.content), 9);
}

json_document table_of(std::span<const object_ptr> objects, table_options options = {}) {
  options.now_seconds = now;
  std::string text;
  append_table(text, objects[0]->kind(), objects, options);
  json_document document;
  INFO(text);
  REQUIRE(parse_json(document, text, "table"));
  return document;
}

// The cells of the object's row as one line.
std::string row(std::string_view yaml) {
  const std::vector<object_ptr> one{object_of(yaml)};
  const auto table = table_of(one);
  REQUIRE(table["rows"].Size() == 1);
  const auto& cells = table["rows"][0]["cells"];
  CHECK(cells.Size() == table["columnDefinitions"].Size());
  std::string line;
  for (const auto& cell : cells.GetArray()) {
    if (!line.empty()) line += " | ";
    line += cell.IsString() ? cell.GetString() : write_json(cell);
  }
  return line;
}

// Ready, status and restarts of a pod with two containers and this status.
std::string pod_row(const std::string& status, const std::string& more = "") {
  const auto line = row("{apiVersion: v1, kind: Pod, metadata: {name: p" + more +
                        "}, spec: {initContainers: [{name: i}, {name: s, restartPolicy: Always}], "
                        "containers: [{name: a}, {name: b}]}, status: {" +
                        status + "}}");
  const auto start = line.find(" | ") + 3;
  return line.substr(start, line.find(" | 65s") - start);
}

const std::string initialized = "conditions: [{type: Initialized, status: \"True\"}], ";
const std::string init_done =
    "initContainerStatuses: [{name: i, state: {terminated: {exitCode: 0}}}, {name: s, started: "
    "true, ready: true, state: {running: {}}}], ";

}  // namespace

TEST_CASE("ages have two units while they are young") {
  CHECK(human_duration(-5) == "<invalid>");
  CHECK(human_duration(-1) == "0s");
  CHECK(human_duration(119) == "119s");
  CHECK(human_duration(120) == "2m");
  CHECK(human_duration(125) == "2m5s");
  CHECK(human_duration(10 * 60 + 5) == "10m");
  CHECK(human_duration(3 * 3600) == "3h");
  CHECK(human_duration(3 * 3600 + 120) == "3h2m");
  CHECK(human_duration(9 * 3600 + 120) == "9h");
  CHECK(human_duration(47 * 3600) == "47h");
  CHECK(human_duration(49 * 3600) == "2d1h");
  CHECK(human_duration(8 * 86400 + 3600) == "8d");
  CHECK(human_duration(2 * 365 * 86400) == "2y");
  CHECK(human_duration((2 * 365 + 3) * 86400) == "2y3d");
  CHECK(human_duration(9LL * 365 * 86400) == "9y");
  CHECK(age_at(now, 0) == "<unknown>");
}

TEST_CASE("a pod's row shows its status") {
  CHECK(pod_row("phase: Pending") == "0/3 | Pending | 0");
  CHECK(pod_row("phase: Pending, initContainerStatuses: [{name: i, state: {running: {}}}]") ==
        "0/3 | Init:0/2 | 0");
  CHECK(pod_row("phase: Pending, initContainerStatuses: [{name: i, restartCount: 2, state: "
                "{terminated: {exitCode: 3}}}]") == "0/3 | Init:ExitCode:3 | 2");
  CHECK(pod_row("phase: Pending, initContainerStatuses: [{name: i, state: {waiting: {reason: "
                "CrashLoopBackOff}}}]") == "0/3 | Init:CrashLoopBackOff | 0");
  CHECK(
      pod_row("phase: Running, " + initialized + init_done +
              "containerStatuses: [{name: a, ready: true, state: {running: {}}}, {name: b, ready: "
              "true, state: {running: {}}}]") == "3/3 | Running | 0");
  CHECK(
      pod_row("phase: Running, " + initialized +
              "containerStatuses: [{name: a, restartCount: 4, lastState: {terminated: {finishedAt: "
              "\"2023-11-14T22:08:20Z\"}}, state: {waiting: {reason: CrashLoopBackOff}}}, {name: "
              "b, ready: true, state: {running: {}}}]") == "1/3 | CrashLoopBackOff | 4 (5m ago)");
  CHECK(pod_row("phase: Failed, " + initialized +
                "containerStatuses: [{name: a, state: {terminated: {signal: 9}}}]") ==
        "0/3 | Signal:9 | 0");
  CHECK(
      pod_row("phase: Running, " + initialized +
              "containerStatuses: [{name: a, state: {terminated: {reason: Completed}}}, {name: b, "
              "ready: true, state: {running: {}}}]") == "1/3 | NotReady | 0");
  CHECK(pod_row("phase: Failed, reason: Evicted") == "0/3 | Evicted | 0");
  CHECK(pod_row("phase: Running", ", deletionTimestamp: \"2023-11-14T22:00:00Z\"") ==
        "0/3 | Terminating | 0");
  CHECK(pod_row("phase: Succeeded", ", deletionTimestamp: \"2023-11-14T22:00:00Z\"") ==
        "0/3 | Succeeded | 0");
  CHECK(
      pod_row("phase: Pending, conditions: [{type: PodScheduled, reason: SchedulingGated, status: "
              "\"False\"}]") == "0/3 | SchedulingGated | 0");
}

TEST_CASE("a pod's row is wide") {
  CHECK(row("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n, readinessGates: "
            "[{conditionType: x}, {conditionType: y}], containers: [{name: a}]}, status: {phase: "
            "Running, podIPs: [{ip: 10.0.0.1}], conditions: [{type: y, status: \"True\"}]}}") ==
        "p | 0/1 | Running | 0 | 65s | 10.0.0.1 | n | <none> | 1/2");
}

TEST_CASE("controllers, deployments and services have their columns") {
  CHECK(
      row("{apiVersion: v1, kind: ReplicationController, metadata: {name: r}, spec: {replicas: 3, "
          "selector: {b: c, a: b}, template: {spec: {containers: [{name: x, image: i}, {name: y, "
          "image: j}]}}}, status: {replicas: 2, readyReplicas: 1}}") ==
      "r | 3 | 2 | 1 | 65s | x,y | i,j | a=b,b=c");
  CHECK(row("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 2, "
            "selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: x, image: "
            "i}]}}}, status: {readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1}}") ==
        "d | 1/2 | 2 | 1 | 65s | x | i | a=b");
  CHECK(
      row("{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: NodePort, clusterIP: "
          "10.0.0.1, clusterIPs: [10.0.0.1], ports: [{port: 80, nodePort: 30000, protocol: TCP}, "
          "{port: 53, protocol: UDP}]}}") ==
      "s | NodePort | 10.0.0.1 | <none> | 80:30000/TCP,53/UDP | 65s | <none>");
  CHECK(row("{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: LoadBalancer}}") ==
        "s | LoadBalancer | <none> | <pending> | <none> | 65s | <none>");
}

TEST_CASE("nodes, events and config have their columns") {
  CHECK(
      row("{apiVersion: v1, kind: Node, metadata: {name: n, labels: "
          "{node-role.kubernetes.io/control-plane: \"\"}}, spec: {unschedulable: true}, status: "
          "{conditions: [{type: Ready, status: \"True\"}], addresses: [{type: InternalIP, address: "
          "10.1.1.1}], nodeInfo: {kubeletVersion: v1, osImage: Debian}}}") ==
      "n | Ready,SchedulingDisabled | control-plane | 65s | v1 | 10.1.1.1 | <none> | Debian | "
      "<unknown> | <unknown>");
  CHECK(
      row("{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {kind: Pod, name: "
          "p}, reason: Started, type: Normal, message: ' hi ', source: {component: kubelet, host: "
          "n}, lastTimestamp: \"2023-11-14T22:13:10Z\", firstTimestamp: \"2023-11-14T22:12:20Z\", "
          "count: 2}") == "10s | Normal | Started | pod/p |  | kubelet, n | hi | 60s | 2 | e");
  CHECK(row("{apiVersion: v1, kind: Secret, metadata: {name: s}, type: Opaque, data: {a: YQ==}}") ==
        "s | Opaque | 1 | 65s");
  CHECK(row("{apiVersion: v1, kind: Namespace, metadata: {name: n}, status: {phase: Active}}") ==
        "n | Active | 65s");
  CHECK(row("{apiVersion: v1, kind: Endpoints, metadata: {name: e}, subsets: [{addresses: [{ip: "
            "1.1.1.1}, {ip: 1.1.1.2}], ports: [{port: 1}, {port: 2}]}]}") ==
        "e | 1.1.1.1:1,1.1.1.2:1,1.1.1.1:2 + 1 more... | 65s");
}

TEST_CASE("a table names its columns and carries metadata, objects or nothing") {
  const std::vector<object_ptr> objects{
      object_of("{apiVersion: v1, kind: Pod, metadata: {name: p}, "
                "status: {phase: Succeeded}}")};
  table_options options;
  options.revision = 12;
  options.continue_token = "next";
  options.remaining = 4;
  auto table = table_of(objects, options);
  CHECK(text_of(table["kind"]) == "Table");
  CHECK(text_of(table["apiVersion"]) == "meta.k8s.io/v1");
  CHECK(text_of(table["metadata"]["resourceVersion"]) == "12");
  CHECK(text_of(table["metadata"]["continue"]) == "next");
  CHECK(table["metadata"]["remainingItemCount"].GetInt() == 4);
  CHECK(text_of(table["columnDefinitions"][0]["format"]) == "name");
  CHECK(table["columnDefinitions"][5]["priority"].GetInt() == 1);
  const auto& first = table["rows"][0];
  CHECK(text_of(first["conditions"][0]["type"]) == "Completed");
  CHECK(text_of(first["object"]["kind"]) == "PartialObjectMetadata");
  CHECK(text_of(first["object"]["metadata"]["name"]) == "p");
  CHECK_FALSE(first["object"].HasMember("status"));
  options.rows = row_object::object;
  options.columns = false;
  table = table_of(objects, options);
  CHECK(table["columnDefinitions"].IsNull());
  CHECK(text_of(table["rows"][0]["object"]["status"]["phase"]) == "Succeeded");
  options.rows = row_object::none;
  table = table_of(objects, options);
  CHECK(table["rows"][0]["object"].IsNull());
}

TEST_CASE("every kind has a row for every object, however odd") {
  for (const auto* kind : scheme::instance().all()) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      random_options options;
      options.style = random_options::mode::hostile;
      const std::vector<object_ptr> one{
          std::make_shared<const object>(*kind, random_object(*kind, seed, options), seed)};
      const auto table = table_of(one);
      REQUIRE(table["rows"][0]["cells"].Size() == table["columnDefinitions"].Size());
    }
  }
}
