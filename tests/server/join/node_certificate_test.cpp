// The rights of a node's certificate over HTTP with real TLS, and when they end.
#include <catch2/catch.hpp>

#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "server/fixtures/join_fixture.hpp"

namespace troupe::server::testing {

using api::core::v1::Node;
using Catch::Matchers::Contains;

namespace {

const std::string nodes = "/api/v1/nodes";
const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

std::string named(const std::string& name) {
  return R"({"metadata":{"name":")" + name + "\"}}";
}

void remove_node(join_test& cluster, const std::string& name) {
  const auto& kind = api::kind_of<Node>();
  cluster.write(kind, kind.key({}, name), nullptr);
}

void removed(const test::http_answer& answer) {
  INFO(answer.body);
  CHECK(answer.status == 403);
  CHECK_THAT(message_of(answer), Contains("was removed from this cluster"));
}

}  // namespace

TEST_CASE("a node's certificate permits access to the node's own objects only") {
  join_test cluster;
  const auto n0 = cluster.join("n0", x509::make_key().value());
  cluster.join("n1", x509::make_key().value());
  CHECK(cluster.ask(n0, "GET", nodes + "/n0").status == 200);
  CHECK(cluster.ask(n0, "POST", leases, named("n0")).status == 201);
  CHECK(cluster.ask(n0, "PUT", leases + "/n1", named("n1")).status == 403);
  CHECK(cluster.ask(n0, "DELETE", nodes + "/n1").status == 403);
  CHECK(cluster.ask(n0, "GET", "/api/v1/secrets").status == 403);
  CHECK(cluster.ask(n0, "GET", "/api/v1/namespaces/default/secrets/s").status == 403);
}

TEST_CASE("a machine that was removed is refused at once, on open connections too") {
  join_test cluster;
  const auto n0 = cluster.join("n0", x509::make_key().value());
  test::wire_options to;
  to.port = static_cast<std::uint16_t>(cluster.port());
  to.authority = cluster.authority();
  to.certificate = n0.certificate;
  to.private_key = n0.private_key;
  test::http_client open{to};
  REQUIRE(open.request("GET", nodes + "/n0").status == 200);
  remove_node(cluster, "n0");
  removed(open.request("GET", nodes + "/n0"));
  removed(cluster.ask(n0, "GET", "/version"));
  removed(cluster.ask(n0, "POST", nodes, named("n0")));
  CHECK_FALSE(cluster.store().read().find(api::kind_of<Node>().key({}, "n0")));
  removed(cluster.ask_certificate(n0, "n0", x509::make_key().value()));
  const auto left = cluster.ask(n0, "POST", "/troupe/v1/nodes/n0/leave");
  CHECK(left.status == 200);
  CHECK_THAT(left.body, Contains("gone"));
}

TEST_CASE("a machine that took over a name ends the certificate of the one before") {
  join_test cluster;
  const auto before = cluster.join("n0", x509::make_key().value());
  remove_node(cluster, "n0");
  const auto now = cluster.join("n0", x509::make_key().value());
  removed(cluster.ask(before, "GET", nodes + "/n0"));
  CHECK(cluster.ask(now, "GET", nodes + "/n0").status == 200);
}

TEST_CASE("a renewed certificate is good, and that before it ends with its key") {
  join_test cluster;
  const auto first = cluster.join("n0", x509::make_key().value());
  const auto key = x509::make_key().value();
  const auto answer = cluster.ask_certificate(first, "n0", key);
  REQUIRE(answer.status == 201);
  const auto certificate = member(read_flat_json(answer.body).value(), "certificate");
  CHECK(cluster.ask({{}, certificate, key}, "GET", nodes + "/n0").status == 200);
  removed(cluster.ask(first, "GET", nodes + "/n0"));
}

TEST_CASE("a kubelet with a certificate of other origin makes its Node itself") {
  join_test cluster;
  const auto foreign = cluster.issue("system:node:far", "system:nodes");
  CHECK(cluster.ask(foreign, "POST", nodes, named("far")).status == 201);
  CHECK(cluster.ask(foreign, "GET", nodes + "/far").status == 200);
  cluster.join("n0", x509::make_key().value());
  removed(cluster.ask(cluster.issue("system:node:n0", "system:nodes"), "GET", nodes + "/n0"));
}

}  // namespace troupe::server::testing
