// The actor with a simulated control plane, and scripts that the test answers.
#include "actors/network/services/service_proxy.hpp"

#include <catch2/catch.hpp>
#include <memory>

#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "support/cluster.hpp"
#include "support/network/service_examples.hpp"

namespace troupe::test {

using namespace actors::services;

namespace {

struct given_script {
  std::string text;
  udp_endpoints udp, udp_v6;
  std::function<void(std::string)> done;
};

struct proxied_cluster {
  std::shared_ptr<std::vector<given_script>> given = std::make_shared<std::vector<given_script>>();
  cluster c{1};
  runtime::actor_ref proxy;
  // Why the second family is refused; empty: it is accepted.
  std::shared_ptr<std::string> refusal = std::make_shared<std::string>();

  explicit proxied_cluster(bool two_families = false, const std::string& refused = {},
                           const api::object_ptr& own_api = {}) {
    service_proxy_options options;
    options.node = "node";
    options.tables.push_back({.service_network = "10.96.0.0/12"});
    options.own_api = own_api;
    if (two_families)
      options.tables.push_back({.service_network = "fd00:10:96::/112", .family = &family_v6});
    if (*refusal = refused; !refused.empty()) {
      options.refused = options.tables.back();
      options.tables.pop_back();
      options.check = [problem = refusal](auto done) { done(*problem); };
    }
    options.run = [to = given](rule_change change, auto done) {
      to->push_back({std::move(change.script), std::move(change.udp), std::move(change.udp_v6),
                     std::move(done)});
    };
    proxy = c.simulation().system().spawn(
        {.kind = "service-proxy", .name = "node"},
        runtime::make<service_proxy>(c.plane().core_actors().watcher, options));
    REQUIRE(c.run_until([&] { return given->size() == 1; }));
  }

  bool has(std::size_t count) {
    return c.run_until([&] { return given->size() >= count; });
  }
  void put(const std::string& name, const std::string& address) {
    c.create(service_body(name, address, {{"http", 80}}));
  }
};

bool is_whole(const given_script& script) {
  return script.text.find("delete table ip troupe") != std::string::npos;
}

}  // namespace

TEST_CASE("a node whose API listens on loopback serves the API's Service itself", "[services]") {
  proxied_cluster p{
      false, {}, slice_object("kubernetes", {{"https", 6'443}}, {{.address = "10.96.0.1"}})};
  p.c.create(service_body("kubernetes", "10.96.0.1", {{"https", 443}}));
  p.put("web", "10.96.0.20");
  p.c.advance(std::chrono::seconds{1});
  p.given->front().done({});
  REQUIRE(p.has(2));
  const auto& text = p.given->back().text;
  CHECK(text.find("10.96.0.1 . tcp . 443 . 0 : 10.96.0.1 . 6443") != text.npos);
  CHECK(text.find("10.96.0.20 . tcp . 80 : goto refuse") != text.npos);
}

TEST_CASE("the first script is the whole table, then one difference at a time", "[services]") {
  proxied_cluster p;
  CHECK(is_whole(p.given->front()));
  p.put("a", "10.96.0.20");
  p.put("b", "10.96.0.21");
  p.c.advance(std::chrono::seconds{1});
  CHECK(p.given->size() == 1);
  p.given->front().done({});
  REQUIRE(p.has(2));
  CHECK_FALSE(is_whole(p.given->back()));
  CHECK(p.given->back().text.find("10.96.0.20") != std::string::npos);
  CHECK(p.given->back().text.find("10.96.0.21") != std::string::npos);
  p.given->back().done({});
  p.c.advance(std::chrono::seconds{1});
  CHECK(p.given->size() == 2);
}

TEST_CASE("after a failure and after a crash the whole table is written", "[services]") {
  proxied_cluster p;
  p.put("a", "10.96.0.20");
  p.given->front().done("nft: no such file");
  REQUIRE(p.has(2));
  CHECK(is_whole(p.given->back()));
  CHECK(p.given->back().text.find("10.96.0.20") != std::string::npos);
  p.given->back().done({});
  p.c.settle();
  p.c.crash("service-proxy", "node");
  REQUIRE(p.has(3));
  CHECK(is_whole(p.given->back()));
}

TEST_CASE("connections by UDP are looked through where their endpoints change", "[services]") {
  proxied_cluster p;
  auto service = service_body("dns", "10.96.0.20", {{"", 53}});
  service.mutable_spec()->mutable_ports(0)->set_protocol("UDP");
  auto slice = slice_body("dns", {{"", 5'353}}, {{.address = "10.42.0.5"}});
  slice.mutable_ports(0)->set_protocol("UDP");
  p.c.create(service);
  p.c.create(slice);
  p.c.advance(std::chrono::seconds{1});
  const udp_endpoints one{{"10.96.0.20 . udp . 53", {"10.42.0.5 . 5353"}}};
  p.given->front().done({});
  REQUIRE(p.has(2));
  CHECK(p.given->back().udp == one);
  p.given->back().done("conntrack: No buffer space available");
  REQUIRE(p.has(3));
  CHECK(p.given->back().udp == one);
  p.given->back().done({});
  p.put("other", "10.96.0.21");
  REQUIRE(p.has(4));
  CHECK(p.given->back().udp.empty());
}

TEST_CASE("hints of zones are kept when the node is told its zone", "[services]") {
  proxied_cluster p;
  p.given->front().done({});
  p.put("a", "10.96.0.20");
  p.c.create(slice_body(
      "a", {{"http", 8'080}},
      {{.address = "10.42.0.1", .zone = "east"}, {.address = "10.42.0.2", .zone = "west"}}));
  REQUIRE(p.has(2));
  const auto finish = [&] {
    do
      p.given->back().done({});
    while (p.c.run_until([&, seen = p.given->size()] { return p.given->size() > seen; },
                         std::chrono::seconds{1}));
  };
  finish();
  const auto before = p.given->size();
  api::core::v1::Node node;
  node.mutable_metadata()->set_name("node");
  (*node.mutable_metadata()->mutable_labels())["topology.kubernetes.io/zone"] = "west";
  p.c.create(node);
  REQUIRE(p.has(before + 1));
  const auto& text = p.given->back().text;
  CHECK(text.find("goto pick-1") != std::string::npos);
  CHECK(text.find("10.42.0.2 . 8080") != std::string::npos);
}

TEST_CASE("a table that somebody removed comes back within a minute", "[services]") {
  proxied_cluster p;
  p.given->front().done({});
  REQUIRE(p.c.run_until([&] { return p.given->size() == 2; }, std::chrono::seconds{31}));
  CHECK(p.given->back().text == "add chain ip troupe services\n");
  p.given->back().done("nft: No such file or directory");
  REQUIRE(p.c.run_until([&] { return p.given->size() == 3; }, std::chrono::seconds{3}));
  CHECK(is_whole(p.given->back()));
}

TEST_CASE("rules that another program removed are put back within seconds", "[services]") {
  proxied_cluster p;
  p.put("a", "10.96.0.20");
  p.given->front().done({});
  REQUIRE(p.has(2));
  p.given->back().done({});
  p.c.settle();
  p.proxy.tell(actors::nft::rules_removed{});
  REQUIRE(p.c.run_until([&] { return p.given->size() == 3; }, std::chrono::seconds{3}));
  CHECK(is_whole(p.given->back()));
  CHECK(p.given->back().text.find("10.96.0.20") != std::string::npos);
}

TEST_CASE("both tables of a node with two families are written, and changed, in one script",
          "[services]") {
  proxied_cluster p{true};
  const auto has = [&](std::string_view part) {
    return p.given->back().text.find(part) != std::string::npos;
  };
  CHECK(is_whole(p.given->front()));
  CHECK(has("delete table ip6 troupe"));
  p.given->front().done({});

  auto service = service_body("dns", "10.96.0.20", {{"", 53}});
  service.mutable_spec()->add_cluster_ips("fd00:10:96::20");
  service.mutable_spec()->mutable_ports(0)->set_protocol("UDP");
  auto v4 = slice_body("dns", {{"", 5'353}}, {{.address = "10.42.0.5"}});
  auto v6 = slice_body("dns", {{"", 5'353}}, {{.address = "fd00:10:42::5"}});
  v6.set_address_type("IPv6");
  v6.mutable_metadata()->set_name(v4.metadata().name() + "-6");
  for (auto* slice : {&v4, &v6})
    slice->mutable_ports(0)->set_protocol("UDP");
  p.c.create(service);
  p.c.create(v4);
  p.c.create(v6);
  REQUIRE(p.has(2));
  CHECK_FALSE(is_whole(p.given->back()));
  CHECK(has("10.42.0.5"));
  CHECK(has("fd00:10:42::5"));
  CHECK(p.given->back().udp == udp_endpoints{{"10.96.0.20 . udp . 53", {"10.42.0.5 . 5353"}}});
  CHECK(p.given->back().udp_v6 ==
        udp_endpoints{{"fd00:10:96::20 . udp . 53", {"fd00:10:42::5 . 5353"}}});
  p.given->back().done({});

  INFO("a change of one family leaves the other alone");
  p.c.change<api::discovery::v1::EndpointSlice>("default", v6.metadata().name(), [](auto& slice) {
    slice.mutable_endpoints(0)->set_addresses(0, "fd00:10:42::6");
  });
  REQUIRE(p.has(3));
  CHECK(has("fd00:10:42::6"));
  CHECK_FALSE(has("table ip troupe"));
  CHECK_FALSE(has("10.42.0.5"));
  CHECK(p.given->back().udp.empty());
  p.given->back().done({});

  INFO("after a crash both are written");
  p.c.crash("service-proxy", "node");
  REQUIRE(p.has(4));
  CHECK(is_whole(p.given->back()));
  CHECK(has("fd00:10:42::6"));
}

TEST_CASE("a family that was refused is served once it is accepted, without a change of the other",
          "[services]") {
  proxied_cluster p{true, "nft took longer than 30000 ms"};
  const auto has = [&](std::string_view part) {
    return p.given->back().text.find(part) != std::string::npos;
  };
  CHECK(is_whole(p.given->front()));
  CHECK_FALSE(has("ip6 troupe"));
  p.given->front().done({});
  auto service = service_body("web", "10.96.0.20", {{"http", 80}});
  service.mutable_spec()->add_cluster_ips("fd00:10:96::20");
  p.c.create(service);
  REQUIRE(p.has(2));
  CHECK_FALSE(has("ip6 troupe"));
  p.given->back().done({});
  p.c.settle();

  p.refusal->clear();
  REQUIRE(p.c.run_until(
      [&, answered = p.given->size()]() mutable {
        for (; answered < p.given->size() && !has("ip6 troupe"); ++answered)
          p.given->back().done({});
        return has("ip6 troupe");
      },
      std::chrono::seconds{61}));
  CHECK(has("delete table ip6 troupe\n"));
  CHECK(has("fd00:10:96::20"));
  CHECK_FALSE(has("add chain ip troupe"));
  CHECK_FALSE(has("element ip troupe"));
  p.given->back().done({});

  INFO("after a crash it is checked at once");
  const auto before = p.given->size();
  p.c.crash("service-proxy", "node");
  REQUIRE(p.has(before + 1));
  CHECK(is_whole(p.given->back()));
  CHECK(has("delete table ip6 troupe\n"));
}

namespace {

// The pod asks before its containers start; the answer is in the result.
std::shared_ptr<std::optional<std::string>> guard(proxied_cluster& p, const api::object_ptr& pod,
                                                  const std::string& address) {
  const auto made = std::make_shared<std::optional<std::string>>();
  p.proxy.tell(actors::nft::guard_pod{
      pod, {address}, [made](std::string problem) { *made = std::move(problem); }});
  p.c.advance(std::chrono::milliseconds{10});
  return made;
}

api::object_ptr put_pod(proxied_cluster& p, const std::string& node = "node") {
  return p.c.create_yaml(
      "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: " + node +
      ", containers: [{name: c, image: none, ports: [{containerPort: 80, hostPort: 30088}]}]}}");
}

bool opens(const given_script& script, const std::string& address) {
  return script.text.find("tcp . 30088 . 0 : " + address + " . 80") != std::string::npos;
}

}  // namespace

TEST_CASE("a pod with host ports starts when they are in force, and they end with it",
          "[services]") {
  proxied_cluster p;
  const auto pod = put_pod(p);
  p.c.advance(std::chrono::milliseconds{10});
  auto answer = guard(p, pod, "10.42.0.5");
  CHECK_FALSE(*answer);
  p.given->front().done({});
  REQUIRE(p.has(2));
  CHECK_FALSE(is_whole(p.given->back()));
  CHECK(opens(p.given->back(), "10.42.0.5"));
  CHECK_FALSE(*answer);
  p.given->back().done({});
  p.c.settle();
  CHECK(*answer == "");
  CHECK(*guard(p, pod, "10.42.0.5") == "");
  CHECK(p.given->size() == 2);

  INFO("a new sandbox has another address");
  answer = guard(p, pod, "10.42.0.6");
  REQUIRE(p.has(3));
  CHECK(opens(p.given->back(), "10.42.0.6"));
  p.given->back().done("nft: no such table");
  p.c.settle();
  CHECK(*answer == "nft: no such table");
  REQUIRE(p.has(4));
  CHECK(is_whole(p.given->back()));
  CHECK(opens(p.given->back(), "10.42.0.6"));
  p.given->back().done({});

  p.c.remove<api::core::v1::Pod>("default", "web", 0);
  REQUIRE(p.has(5));
  CHECK(p.given->back().text.find("delete element ip troupe node-ports { tcp . 30088 }") !=
        std::string::npos);
}

TEST_CASE("a pod that the node does not have gets no host ports", "[services]") {
  proxied_cluster p;
  p.given->front().done({});
  const auto elsewhere = put_pod(p, "other");
  const auto answer = guard(p, elsewhere, "10.42.0.5");
  CHECK(*answer == "the node has not seen the pod yet");
  p.c.advance(std::chrono::seconds{1});
  CHECK(p.given->size() == 1);
}

TEST_CASE("after a crash host ports lead to the addresses in the status of pods", "[services]") {
  proxied_cluster p;
  put_pod(p);
  p.given->front().done({});
  p.c.change<api::core::v1::Pod>("default", "web", [](auto& pod) {
    pod.mutable_status()->set_host_ip("192.0.2.1");
    pod.mutable_status()->set_pod_ip("10.42.0.7");
  });
  REQUIRE(p.has(2));
  CHECK(opens(p.given->back(), "10.42.0.7"));
  p.given->back().done({});
  p.c.settle();
  p.c.crash("service-proxy", "node");
  REQUIRE(p.has(3));
  CHECK(is_whole(p.given->back()));
  CHECK(opens(p.given->back(), "10.42.0.7"));
}

TEST_CASE("a service has a node port before a pod with the same host port", "[services]") {
  proxied_cluster p;
  p.given->front().done({});
  const auto pod = put_pod(p);
  guard(p, pod, "10.42.0.5");
  REQUIRE(p.has(2));
  p.given->back().done({});
  auto service = service_body("web", "10.96.0.20", {{"http", 80}});
  service.mutable_spec()->set_type("NodePort");
  service.mutable_spec()->mutable_ports(0)->set_node_port(30'088);
  p.c.create(slice_body("web", {{"http", 80}}, {{.address = "10.42.0.8"}}));
  p.c.settle();
  p.c.create(service);
  REQUIRE(p.has(3));
  CHECK(opens(p.given->back(), "10.42.0.8"));
}

}  // namespace troupe::test
