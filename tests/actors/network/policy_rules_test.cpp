// Rules compiled from network policies, compared with the evaluation of single connections, and
// both with examples.
#include "actors/network/policies/policy_rules.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "actors/network/policies/policy_reach.hpp"
#include "api/scheme.hpp"
#include "support/network/policy_examples.hpp"
#include "support/network/random_policies.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using namespace actors::policies;

namespace {

connection_end end_at(const policy_state& state, ip_number address) {
  for (const auto& pod : state.pods)
    if (pod.address == address) return {&pod, address};
  return {nullptr, address};
}

connection between(const policy_state& state, const std::string& from, const std::string& to,
                   std::uint32_t port, const std::string& protocol = "TCP") {
  return {state.family, end_at(state, number_of(from)), end_at(state, number_of(to)), protocol,
          port};
}

bool meets(const policy_rule& rule, direction side, const connection& asked) {
  const auto peer = side == direction::ingress ? asked.from.address : asked.to.address;
  const bool peer_fits = rule.any_peer || (rule.by_pods && rule.pods.contains(peer)) ||
                         (rule.by_blocks && rule.blocks.contains(peer));
  const auto numbers = rule.numbers.find(asked.protocol);
  const bool port_fits =
      rule.any_port ||
      (rule.by_number && numbers != rule.numbers.end() && numbers->second.contains(asked.port)) ||
      (rule.by_name && rule.named.contains({asked.to.address, asked.protocol, asked.port}));
  return peer_fits && port_fits;
}

// Evaluates the rules as the kernel does.
bool admits(const node_rules& rules, direction side, const connection& asked) {
  const auto found = rules.guarded.find(side);
  if (found == rules.guarded.end()) return true;
  const auto own = side == direction::ingress ? asked.to.address : asked.from.address;
  const auto list = found->second.find(own);
  if (list == found->second.end()) return true;
  for (const auto& key : list->second)
    if (meets(rules.rules.at(key), side, asked)) return true;
  return false;
}

// Both evaluations, which must agree.
bool reaches(const policy_state& state, const connection& asked) {
  const auto rules = compile(state);
  bool all = true;
  for (const auto side : {direction::ingress, direction::egress}) {
    const bool judged = evaluate(state, side, asked).admits();
    CHECK(admits(rules, side, asked) == judged);
    all = all && judged;
  }
  return all;
}

struct two_namespaces {
  policy_state state;

  two_namespaces() {
    state.namespaces = {{"a", namespace_object("a", {{"team", "blue"}})},
                        {"b", namespace_object("b", {{"team", "red"}})}};
    state.pods = {
        policy_pod_of(
            {"a/web", "10.42.0.1", {{"app", "web"}}, {{"http", 8080}, {"dns", 53, "UDP"}}}),
        policy_pod_of({"a/client", "10.42.0.2", {{"app", "client"}}}),
        policy_pod_of({"b/client", "10.42.1.2", {{"app", "client"}}, {}, "other"}),
        policy_pod_of({"b/web", "10.42.1.1", {{"app", "web"}}, {{"http", 9090}}, "other"})};
  }

  void put(const std::string& name, std::string_view spec) {
    state.policies.push_back(policy_object(name, spec));
  }
  bool call(const std::string& from, const std::string& to, std::uint32_t port,
            const std::string& protocol = "TCP") const {
    return reaches(state, between(state, from, to, port, protocol));
  }
};

const std::string web = "10.42.0.1", client = "10.42.0.2", other_client = "10.42.1.2",
                  other_web = "10.42.1.1", outside = "198.51.100.7";

}  // namespace

TEST_CASE("rules of policies admit what the policies admit", "[policies]") {
  const auto* family = GENERATE(as<const address_family*>{}, &actors::services::family_v4,
                                &actors::services::family_v6);
  for_each_seed(300, [&](std::uint64_t seed) {
    random_policies random{seed, *family};
    const auto state = random.state();
    const auto rules = compile(state);
    for (int i = 0; i < 60; ++i) {
      const connection asked{family, end_at(state, random.address()),
                             end_at(state, random.address()), random.protocol(), random.port()};
      for (const auto side : {direction::ingress, direction::egress}) {
        const auto& own = side == direction::ingress ? asked.to : asked.from;
        // Rules are compiled for the node's own pods.
        const bool expected =
            own.pod == nullptr || !own.pod->guarded || evaluate(state, side, asked).admits();
        INFO(to_string(asked.from.address, *family)
             << " to " << to_string(asked.to.address, *family) << " " << asked.protocol
             << asked.port << to_string(side));
        REQUIRE(admits(rules, side, asked) == expected);
      }
    }
  });
}

TEST_CASE("a pod is free until a policy selects it", "[policies]") {
  two_namespaces c;
  CHECK(c.call(client, web, 80));
  CHECK(compile(c.state) == node_rules{});
  c.put("a/deny", "{podSelector: {matchLabels: {app: web}}}");
  CHECK_FALSE(c.call(client, web, 80));
  CHECK_FALSE(c.call(outside, web, 80));
  CHECK(c.call(web, client, 80));
  CHECK(c.call(client, other_web, 80));
}

TEST_CASE("rules of several policies add up", "[policies]") {
  two_namespaces c;
  c.put("a/deny", "{podSelector: {}}");
  c.put("a/http", "{podSelector: {matchLabels: {app: web}}, ingress: [{ports: [{port: 8080}]}]}");
  CHECK(c.call(client, web, 8080));
  CHECK(c.call(outside, web, 8080));
  CHECK_FALSE(c.call(client, web, 8080, "UDP"));
  CHECK_FALSE(c.call(web, client, 8080));
}

TEST_CASE("peers are pods of the policy's namespace, of others, of both, or addresses",
          "[policies]") {
  two_namespaces c;
  const auto admit = [&](const std::string& peer) {
    c.state.policies.clear();
    c.put("a/p", "{podSelector: {matchLabels: {app: web}}, ingress: [{from: [" + peer + "]}]}");
  };
  admit("{podSelector: {matchLabels: {app: client}}}");
  CHECK(c.call(client, web, 80));
  CHECK_FALSE(c.call(other_client, web, 80));
  admit("{namespaceSelector: {matchLabels: {team: red}}}");
  CHECK_FALSE(c.call(client, web, 80));
  CHECK(c.call(other_client, web, 80));
  CHECK(c.call(other_web, web, 80));
  admit("{namespaceSelector: {}, podSelector: {matchLabels: {app: client}}}");
  CHECK(c.call(client, web, 80));
  CHECK(c.call(other_client, web, 80));
  CHECK_FALSE(c.call(other_web, web, 80));
  admit("{ipBlock: {cidr: 198.51.100.0/24, except: [198.51.100.0/29]}}");
  CHECK_FALSE(c.call(outside, web, 80));
  CHECK(c.call("198.51.100.8", web, 80));
  admit("{ipBlock: {cidr: 0.0.0.0/0}}");
  CHECK(c.call(outside, web, 80));
  CHECK(c.call(client, web, 80));
}

TEST_CASE("a named port is that of the pod which is connected to", "[policies]") {
  two_namespaces c;
  c.put("a/in", "{podSelector: {matchLabels: {app: web}}, ingress: [{ports: [{port: http}]}]}");
  CHECK(c.call(client, web, 8080));
  CHECK_FALSE(c.call(client, web, 9090));
  CHECK_FALSE(c.call(client, web, 53, "UDP"));
  c.put("a/out",
        "{podSelector: {matchLabels: {app: client}}, policyTypes: [Egress], "
        "egress: [{to: [{namespaceSelector: {}}], ports: [{port: http}]}]}");
  CHECK(c.call(client, other_web, 9090));
  CHECK_FALSE(c.call(client, other_web, 8080));
  CHECK(c.call(client, web, 8080));
  CHECK_FALSE(c.call(client, outside, 9090));
}

TEST_CASE("a range of ports ends with its last one", "[policies]") {
  two_namespaces c;
  c.put("a/p", "{podSelector: {}, ingress: [{ports: [{protocol: UDP, port: 100, endPort: 200}]}]}");
  CHECK_FALSE(c.call(client, web, 99, "UDP"));
  CHECK(c.call(client, web, 100, "UDP"));
  CHECK(c.call(client, web, 200, "UDP"));
  CHECK_FALSE(c.call(client, web, 201, "UDP"));
  CHECK_FALSE(c.call(client, web, 100, "TCP"));
}

TEST_CASE("a range of ports that ends before it begins admits nothing", "[policies]") {
  two_namespaces c;
  c.put("a/p", "{podSelector: {}, ingress: [{ports: [{port: 200, endPort: 100}, {port: -1}]}]}");
  for (const auto port : {0u, 100u, 150u, 200u, 65'535u})
    CHECK_FALSE(c.call(client, web, port));
}

TEST_CASE("ten thousand peers and ports and a thousand exceptions are as many elements",
          "[policies]") {
  two_namespaces c;
  std::string peers, ports, except;
  for (int i = 0; i < 10'000; ++i) {
    peers += fmt::format("{{ipBlock: {{cidr: 10.{}.{}.2/32}}}}, ", 64 + i / 200, i % 200);
    ports += fmt::format("{{port: {}}}, ", 1'000 + 2 * i);
  }
  for (int i = 0; i < 1'000; ++i)
    except += fmt::format("192.168.{}.{}/32, ", i / 100, 2 * (i % 100) + 1);
  c.put("a/p", fmt::format("{{podSelector: {{}}, ingress: [{{from: [{}{{ipBlock: {{cidr: "
                           "192.168.0.0/16, except: [{}]}}}}], ports: [{}]}}]}}",
                           peers, except, ports));
  const auto rules = compile(c.state);
  REQUIRE(rules.rules.size() == 1);
  const auto& rule = rules.rules.begin()->second;
  CHECK(rule.blocks.parts().size() == 10'000 + 1'001);
  CHECK(rule.numbers.at("TCP").parts().size() == 10'000);
  CHECK(admits(rules, direction::ingress, between(c.state, "192.168.0.2", web, 1'000)));
  CHECK_FALSE(admits(rules, direction::ingress, between(c.state, "192.168.0.1", web, 1'000)));
  CHECK_FALSE(admits(rules, direction::ingress, between(c.state, "192.168.0.2", web, 1'001)));
}

TEST_CASE("without policyTypes, egress is guarded where the policy has rules for it",
          "[policies]") {
  two_namespaces c;
  c.put("a/in", "{podSelector: {matchLabels: {app: client}}}");
  CHECK(c.call(client, web, 80));
  c.put("a/both", "{podSelector: {matchLabels: {app: client}}, egress: [{ports: [{port: 53}]}]}");
  CHECK_FALSE(c.call(client, web, 80));
  CHECK(c.call(client, web, 53));
  c.state.policies.clear();
  c.put("a/egress", "{podSelector: {matchLabels: {app: client}}, policyTypes: [Egress]}");
  CHECK(c.call(web, client, 80));
  CHECK_FALSE(c.call(client, web, 80));
}

TEST_CASE("policies of IPv6 have the same rules, and blocks of their own family", "[policies]") {
  policy_state state{.family = &actors::services::family_v6,
                     .namespaces = {{"a", namespace_object("a", {})}},
                     .pods = {policy_pod_of({"a/web", "fd00:42::1", {{"app", "web"}}}),
                              policy_pod_of({"a/client", "fd00:42::2", {{"app", "client"}}})}};
  const auto admit = [&](const std::string& peer) {
    state.policies = {policy_object("a/p",
                                    "{podSelector: {matchLabels: {app: web}}, ingress: "
                                    "[{from: [" +
                                        peer + "]}]}")};
  };
  const auto calls = [&](const std::string& from) {
    return reaches(state, between(state, from, "fd00:42::1", 80));
  };
  admit("{podSelector: {matchLabels: {app: client}}}");
  CHECK(calls("fd00:42::2"));
  CHECK_FALSE(calls("2001:db8::7"));
  admit("{ipBlock: {cidr: \"2001:db8::/64\", except: [\"2001:db8::8/125\"]}}");
  CHECK(calls("2001:db8::7"));
  CHECK(calls("2001:db8::ffff:ffff:ffff:ffff"));
  CHECK_FALSE(calls("2001:db8::8"));
  CHECK_FALSE(calls("2001:db8:0:1::"));
  admit("{ipBlock: {cidr: 0.0.0.0/0}}");
  CHECK_FALSE(calls("fd00:42::2"));
  admit("{ipBlock: {cidr: \"::/0\"}}");
  CHECK(calls("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
}

TEST_CASE("pods that use the address of their node or have ended are no peers", "[policies]") {
  auto body = pod_body({"a/web", "10.42.0.1"});
  const auto address_of = [&](const address_family& family) {
    return own_address(api::object{api::kind_of<api::core::v1::Pod>(),
                                   std::make_unique<api::core::v1::Pod>(body), 1},
                       family);
  };
  const auto& v4 = actors::services::family_v4;
  const auto& v6 = actors::services::family_v6;
  CHECK(address_of(v4) == number_of("10.42.0.1"));
  CHECK_FALSE(address_of(v6));
  body.mutable_status()->set_phase("Succeeded");
  CHECK_FALSE(address_of(v4));
  body.mutable_status()->set_phase("Running");
  body.mutable_status()->set_pod_ip(body.status().host_ip());
  CHECK_FALSE(address_of(v4));
  body.mutable_status()->set_pod_ip("2001:db8::1");
  CHECK_FALSE(address_of(v4));
  CHECK(address_of(v6) == number_of("2001:db8::1"));
  body.mutable_status()->add_pod_ips()->set_ip("10.42.0.9");
  CHECK(address_of(v4) == number_of("10.42.0.9"));
  body.mutable_spec()->set_host_network(true);
  CHECK_FALSE(address_of(v4));
  CHECK_FALSE(address_of(v6));
}

TEST_CASE("ranges join what touches and keep what is left of a removal", "[policies]") {
  constexpr auto greatest = ~ip_number{0};
  ranges set;
  set.add(10, 20);
  set.add(30, 40);
  set.add(21, 29);
  CHECK(set.parts() == std::map<ip_number, ip_number>{{10, 40}});
  set.remove(15, 16);
  set.remove(0, 10);
  set.remove(40, greatest);
  CHECK(set.parts() == std::map<ip_number, ip_number>{{11, 14}, {17, 39}});
  set.add(0, 0);
  set.add(greatest, greatest);
  CHECK(set.contains(0));
  CHECK(set.contains(greatest));
  CHECK_FALSE(set.contains(15));
  set.remove(0, greatest);
  CHECK(set.empty());
}

}  // namespace troupe::test
