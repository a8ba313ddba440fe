// metrics.k8s.io: usage of nodes and pods, from the local node, and over the link.
#include <catch2/catch.hpp>
#include <memory>

#include "actors/link/node_gateway.hpp"
#include "actors/link/node_links.hpp"
#include "api/codec/codec.hpp"
#include "api/schema/metrics_v1beta1.pb.h"
#include "api/scheme.hpp"
#include "server/access/authentication.hpp"
#include "server/access/rbac_authorizer.hpp"
#include "server/fixtures/http_fixture.hpp"
#include "server/frontend/auth_filter.hpp"
#include "server/join/join_authorizer.hpp"
#include "server/rest/measured_cluster.hpp"
#include "support/link/loopback.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Matchers::Contains;

namespace {

const std::string group = "/apis/metrics.k8s.io/v1beta1";
const std::string pods = "/api/v1/namespaces/default/pods";
const std::string node_usage = group + "/nodes";
const std::string pod_usage = group + "/namespaces/default/pods";
const test::http_client::fields as_table{
    {"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a node's metrics show its usage, time and window") {
  measured_cluster t;
  const auto seen = t.server.get(node_usage + "/here");
  INFO(seen.text());
  REQUIRE(seen.status == 200);
  CHECK(seen.at("kind") == "NodeMetrics");
  CHECK(seen.at("apiVersion") == "metrics.k8s.io/v1beta1");
  CHECK(seen.at("metadata.labels.zone") == "a");
  CHECK_THAT(seen.at("metadata.creationTimestamp"), Contains("T"));
  CHECK_THAT(seen.at("timestamp"), Contains("T") && Contains("Z"));
  CHECK_THAT(seen.at("window"), Catch::Matchers::Matches("[0-9.]+m?s"));
  // Twice the elapsed time, except for rounding.
  CHECK_THAT(seen.at("usage.cpu"), Catch::Matchers::Matches("2|(19999|20000)[0-9]{5}n"));
  CHECK(seen.at("usage.memory") == "1Gi");
  CHECK_FALSE(seen.has("metadata.resourceVersion"));
}

TEST_CASE("a pod's metrics are of its containers that are measured") {
  measured_cluster t;
  t.run_pod("web");
  const auto seen = t.server.get(pod_usage + "/web");
  INFO(seen.text());
  REQUIRE(seen.status == 200);
  CHECK(seen.at("kind") == "PodMetrics");
  CHECK(seen.at("metadata.namespace") == "default");
  CHECK(seen.at("metadata.labels.app") == "web");
  REQUIRE(seen.size("containers") == 1);
  CHECK(seen.at("containers.0.name") == "c");
  CHECK_THAT(seen.at("containers.0.usage.cpu"),
             Catch::Matchers::Matches("500m|(4999|5000)[0-9]{5}n"));
  CHECK(seen.at("containers.0.usage.memory") == "2Mi");
}

TEST_CASE("lists of metrics are chosen by labels, names and namespaces") {
  measured_cluster t;
  t.run_pod("web");
  t.run_pod("db", R"({"app":"db"})");
  REQUIRE(t.server.post("/api/v1/namespaces", R"({"metadata":{"name":"other"}})").status == 201);
  t.run_pod("web", R"({"app":"web"})", "other");
  CHECK(t.names(pod_usage) == texts{"db", "web"});
  CHECK(t.names(group + "/pods") == texts{"db", "web", "web"});
  CHECK(t.names(group + "/pods?labelSelector=app%3Dweb") == texts{"web", "web"});
  CHECK(t.names(pod_usage + "?labelSelector=app%3Ddb") == texts{"db"});
  CHECK(t.names(pod_usage + "?fieldSelector=metadata.name%3Dweb") == texts{"web"});
  CHECK(t.names(group + "/pods?fieldSelector=metadata.namespace%3Dother") == texts{"web"});
  // No pages: the whole list, as metrics-server answers.
  CHECK(t.names(pod_usage + "?limit=1") == texts{"db", "web"});
  CHECK(t.names(node_usage + "?labelSelector=zone%3Da") == texts{"here"});
  CHECK(t.names(node_usage + "?labelSelector=zone%3Db").empty());
  CHECK(t.server.get(pod_usage + "?fieldSelector=spec.nodeName%3Dhere").status == 400);
  CHECK(t.server.get(node_usage).at("kind") == "NodeMetricsList");
}

TEST_CASE("unmeasured objects have no metrics: they are left out of lists, and 404 by name") {
  measured_cluster t;
  t.add_node("simulated");
  t.run_pod("web");
  t.add_pod("new");  // runs, but its containers are not measured yet
  t.add_pod("far", "simulated");
  t.add_pod("waiting", "here", "{}", "Pending");
  CHECK(t.names(node_usage) == texts{"here"});
  CHECK(t.names(pod_usage) == texts{"web"});
  const auto message = [&](const std::string& path) {
    const auto answer = t.server.get(path);
    CHECK(answer.status == 404);
    CHECK(answer.at("reason") == "NotFound");
    return answer.at("message");
  };
  CHECK(message(node_usage + "/simulated") == "nodemetrics.metrics.k8s.io \"simulated\" not found");
  CHECK(message(pod_usage + "/new") == "podmetrics.metrics.k8s.io \"default/new\" not found");
  CHECK(message(pod_usage + "/far") == "podmetrics.metrics.k8s.io \"default/far\" not found");
  CHECK(message(pod_usage + "/waiting") ==
        "podmetrics.metrics.k8s.io \"default/waiting\" not found");
  CHECK(message(node_usage + "/none") == "nodes \"none\" not found");
  CHECK(message(pod_usage + "/none") == "pods \"none\" not found");
}

TEST_CASE("metrics are read and not written, watched or stored") {
  measured_cluster t;
  const auto before = t.server.store().stats().current;
  CHECK(t.server.get(node_usage).status == 200);
  CHECK(t.server.store().stats().current == before);
  CHECK(t.server.get(node_usage + "?watch=1").status == 405);
  CHECK(t.server.post(node_usage, "{}").status == 405);
  CHECK(t.server.put(node_usage + "/here", "{}").status == 405);
  CHECK(t.server.remove(node_usage + "/here").status == 405);
  const auto resources = t.server.get(group);
  REQUIRE(resources.size("resources") == 2);
  for (const std::string each : {"resources.0.", "resources.1."}) {
    CHECK(resources.size(each + "verbs") == 2);
    CHECK(resources.at(each + "verbs.0") == "get");
    CHECK(resources.at(each + "verbs.1") == "list");
  }
  CHECK(t.server.get("/apis/metrics.k8s.io").at("preferredVersion.version") == "v1beta1");
}

TEST_CASE("metrics come as a table and as protobuf") {
  measured_cluster t;
  t.run_pod("web");
  const auto table = t.server.get(pod_usage, as_table);
  CHECK(table.at("columnDefinitions.1.name") == "cpu");
  CHECK(table.at("columnDefinitions.2.name") == "memory");
  CHECK(table.at("columnDefinitions.3.name") == "Window");
  CHECK(table.at("rows.0.cells.0") == "web");
  CHECK(table.at("rows.0.cells.2") == "2Mi");
  CHECK(t.server.get(node_usage + "/here", as_table).at("rows.0.cells.2") == "1Gi");
  using api::metrics::v1beta1::NodeMetrics;
  const auto wire =
      t.server.get(node_usage + "/here", {{"accept", "application/vnd.kubernetes.protobuf"}});
  const auto read = api::decode(wire.text(), api::media::protobuf, &api::kind_of<NodeMetrics>());
  REQUIRE(read);
  const auto& metrics = static_cast<const NodeMetrics&>(*read->content);
  CHECK(metrics.usage().at("memory").string() == "1Gi");
  CHECK(metrics.window().duration() >= 250'000'000);
}

TEST_CASE("a joined node is asked over its link, and left out while it has none") {
  measured_cluster t;
  t.add_node("n1", R"("annotations":{"troupe.dev/node-key":"sha256:n1"})");
  const auto uid = t.add_pod("far", "n1");
  runtime::actor_system system;  // the node's
  // It also reports a pod that is not its own.
  t.run_pod("near");
  spawn_meter(system, "n1",
              std::make_shared<measured_pods>(measured_pods{uid, t.running->front()}));
  const auto gateway = actors::spawn_gateway(system, {.node = "n1"});
  CHECK(t.names(node_usage) == texts{"here"});
  auto line = test::make_loopback({"system:node:n1", {"system:nodes"}, "sha256:n1", {}},
                                  actors::gateway_acceptor(gateway), {"plane", {}, {}, {}},
                                  t.server.plane().links().acceptor());
  REQUIRE(t.server.eventually([&] { return t.server.plane().links().table().connected("n1"); }));
  CHECK(t.names(node_usage) == texts{"here", "n1"});
  CHECK(t.names(pod_usage) == texts{"far", "near"});
  CHECK(t.server.get(pod_usage + "/far").at("containers.0.usage.memory") == "2Mi");
  CHECK(t.server.get(pod_usage + "/near").size("containers") == 1);
  line.cut();
  REQUIRE(t.server.eventually([&] { return !t.server.plane().links().table().connected("n1"); }));
  CHECK(t.names(node_usage) == texts{"here"});
  CHECK(t.server.get(node_usage + "/n1").status == 404);
}

namespace {

// "root" is a master, "node" a joined machine, any other token the user of that name.
struct users_of_metrics final : server::token_source {
  server::user_ptr find(std::string_view token) const override {
    std::string name{token};
    std::vector<std::string> groups;
    if (token == "root") groups = {"system:masters"};
    if (token == "node") {
      name = "system:node:n1";
      groups = {"system:nodes"};
    }
    return std::make_shared<server::user_info>(server::user_info{name, "", std::move(groups)});
  }
};

}  // namespace

TEST_CASE("a user who may view a namespace sees the usage of its pods only") {
  rest_test rest;
  server::authenticator users{{std::make_shared<users_of_metrics>()}};
  server::authorization may{{std::make_shared<server::join_authorizer>(),
                             std::make_shared<server::rbac_authorizer>(rest.plane().policy())}};
  server::in_flight room{400, 200};
  server::health_checks health;
  server::auth_filter filter{users, may, room, health, rest.api()};
  server::http_server http{{}};
  test::wire_options where;
  where.port = http.listen({"127.0.0.1", 0}, filter).value().port;
  where.tls = false;
  test::http_client client{where};
  const auto status = [&](const std::string& token, const std::string& path) {
    return client.request("GET", path, {}, {{"Authorization", "Bearer " + token}}).status;
  };
  REQUIRE(rest.api().create_system_objects());
  const auto bound = client.request(
      "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
      R"({"metadata":{"name":"jane"},"roleRef":{"kind":"ClusterRole","name":"view"},)"
      R"("subjects":[{"kind":"User","name":"jane"}]})",
      {{"Authorization", "Bearer root"}, {"Content-Type", "application/json"}});
  REQUIRE(bound.status == 201);
  CHECK(status("jane", pod_usage) == 200);
  CHECK(status("jane", group + "/namespaces/kube-system/pods") == 403);
  CHECK(status("jane", group + "/pods") == 403);
  CHECK(status("jane", node_usage) == 403);
  CHECK(status("joe", pod_usage) == 403);
  CHECK(status("root", node_usage) == 200);
  for (const auto& path : {pod_usage, group + "/pods", node_usage, node_usage + "/n1"})
    CHECK(status("node", path) == 403);
}
