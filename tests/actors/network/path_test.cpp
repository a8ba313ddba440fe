#include "actors/network/explain/path.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "api/scheme.hpp"
#include "support/network/policy_examples.hpp"
#include "support/network/service_examples.hpp"

namespace troupe::test {

using namespace actors::network;
using api::core::v1::Pod;

namespace {

api::object_ptr pod_object(const pod_example& of, bool ready = true) {
  auto body = std::make_unique<Pod>(pod_body(of));
  auto& condition = *body->mutable_status()->add_conditions();
  condition.set_type("Ready");
  condition.set_status(ready ? "True" : "False");
  return std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(body), 1);
}

const pod_example web{"default/web", "10.42.0.1", {{"app", "web"}}},
    client{"default/client", "10.42.0.2", {{"app", "client"}}};

path_question to_service() {
  path_question asked;
  auto service = service_body("web", "10.96.0.100", {{"http", 80}});
  (*service.mutable_spec()->mutable_selector())["app"] = "web";
  asked.to = object_of(service);
  asked.pods = {pod_object(web), pod_object(client)};
  asked.slices = {
      slice_object("web", {{"http", 8080}}, {{.address = web.address, .node = "node"}})};
  asked.state.namespaces["default"] = namespace_object("default", {});
  return asked;
}

// The first step of that part.
path_step step(const path_answer& answer, const std::string& part) {
  const auto found = std::find_if(answer.steps.begin(), answer.steps.end(),
                                  [&](const auto& each) { return each.part == part; });
  return found == answer.steps.end() ? path_step{} : *found;
}

}  // namespace

TEST_CASE("the path to a service names its endpoints and its rules", "[network]") {
  const auto answer = explain_path(to_service());
  CHECK(answer.reaches);
  CHECK(step(answer, "service").text == "ClusterIP at 10.96.0.100");
  CHECK(step(answer, "selector").text == "app=web selects 1 pods of namespace default");
  CHECK(step(answer, "endpoint").text == "10.42.0.1:8080, pod default/web");
  CHECK(step(answer, "rule").text == "cluster-ips 10.96.0.100");
}

TEST_CASE("a rule of a service shows the connections that were counted", "[network]") {
  auto asked = to_service();
  const actors::services::element_key key{"service-ports", "10.96.0.100 . tcp . 80"};
  REQUIRE(rules_of(asked).all.contains(key));
  asked.connections[key] = 7;
  const auto answer = explain_path(asked);
  const auto shows = [&answer](const std::string& text) {
    return std::any_of(answer.steps.begin(), answer.steps.end(),
                       [&](const auto& each) { return each.part == "rule" && each.text == text; });
  };
  CHECK(shows("service-ports 10.96.0.100 . tcp . 80 : goto pick-1, 7 connections on this machine"));
  CHECK(shows("cluster-ips 10.96.0.100"));
}

TEST_CASE("a port that the service has not is where the path ends", "[network]") {
  auto asked = to_service();
  asked.port = 81;
  const auto answer = explain_path(asked);
  CHECK_FALSE(answer.reaches);
  CHECK(step(answer, "port").text == "81/TCP is none of its ports (80/TCP): refused");
}

TEST_CASE("a service without endpoints says what its pods wait for", "[network]") {
  auto asked = to_service();
  asked.slices.clear();
  SECTION("pods that are not ready") {
    asked.pods = {pod_object(web, false)};
    CHECK(step(explain_path(asked), "pod").text == "default/web is not ready");
  }
  SECTION("no pod at all") {
    asked.pods = {pod_object(client)};
    const auto selector = step(explain_path(asked), "selector");
    CHECK(selector.state == step_state::blocks);
    CHECK(selector.text == "app=web selects 0 pods of namespace default");
  }
  const auto answer = explain_path(asked);
  CHECK_FALSE(answer.reaches);
  CHECK(step(answer, "endpoints").state == step_state::blocks);
}

TEST_CASE("policies of both ends are named, and the rule that admits", "[network]") {
  auto asked = to_service();
  asked.from = pod_object(client);
  asked.state.policies = {policy_object(
      "default/guard",
      "{podSelector: {matchLabels: {app: web}}, ingress: [{ports: [{port: 9090}]}]}")};
  auto answer = explain_path(asked);
  CHECK_FALSE(answer.reaches);
  CHECK(step(answer, "egress").text == "no policy selects pod default/client");
  CHECK(step(answer, "ingress").state == step_state::blocks);
  CHECK(step(answer, "ingress").text ==
        "pod default/web: no rule admits it: dropped; selected by default/guard");
  asked.state.policies.push_back(
      policy_object("default/more", "{podSelector: {}, ingress: [{ports: [{port: 8080}]}]}"));
  answer = explain_path(asked);
  CHECK(answer.reaches);
  CHECK(step(answer, "ingress").text == "pod default/web: admitted by policy default/more, rule 0");
}

TEST_CASE("policies hold for the IPv6 addresses of pods", "[network]") {
  path_question asked;
  auto target = web;
  target.address = "fd00:42::1";
  auto caller = client;
  caller.address = "fd00:42::2";
  asked.to = pod_object(target);
  asked.from = pod_object(caller);
  asked.state.policies = {
      policy_object("default/block",
                    "{podSelector: {matchLabels: {app: web}}, ingress: [{from: [{ipBlock: "
                    "{cidr: \"fd00:42::/64\", except: [\"fd00:42::2/128\"]}}]}]}")};
  CHECK_FALSE(explain_path(asked).reaches);
  caller.address = "fd00:42::3";
  asked.from = pod_object(caller);
  CHECK(explain_path(asked).reaches);
}

TEST_CASE("a service that keeps to the node has nothing for a pod elsewhere", "[network]") {
  auto asked = to_service();
  auto service = service_body("web", "10.96.0.100", {{"http", 80}});
  service.mutable_spec()->set_internal_traffic_policy("Local");
  asked.to = object_of(service);
  auto elsewhere = client;
  elsewhere.node = "other";
  asked.from = pod_object(elsewhere);
  const auto answer = explain_path(asked);
  CHECK_FALSE(answer.reaches);
  CHECK(step(answer, "endpoints").text ==
        "port 80/TCP: internalTrafficPolicy is Local, and no endpoint is on node other: dropped");
}

TEST_CASE("a pod that uses the address of its node is held by no policy", "[network]") {
  path_question asked;
  auto shared = web;
  shared.address = "192.0.2.1";
  asked.to = pod_object(shared);
  asked.from = pod_object(client);
  asked.state.policies = {policy_object("default/deny", "{podSelector: {}}")};
  const auto answer = explain_path(asked);
  CHECK(answer.reaches);
  CHECK(step(answer, "ingress").text ==
        "pod default/web has no address of its own: policies hold nothing");
}

}  // namespace troupe::test
