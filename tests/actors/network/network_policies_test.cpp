// The actor with a simulated control plane, and scripts that the test answers.
#include "actors/network/policies/network_policies.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/scheme.hpp"
#include "support/cluster.hpp"
#include "support/network/policy_examples.hpp"

namespace troupe::test {

using namespace actors::policies;
using api::core::v1::Pod;
using api::networking::v1::NetworkPolicy;

namespace {

struct given_script {
  std::string text;
  std::function<void(std::string)> done;
};

using answer = std::shared_ptr<std::optional<std::string>>;

struct policed_cluster {
  std::shared_ptr<std::vector<given_script>> given = std::make_shared<std::vector<given_script>>();
  cluster c{1};
  runtime::actor_ref actor;

  // Why IPv6 is refused; empty: it is accepted.
  std::shared_ptr<std::string> refusal = std::make_shared<std::string>();

  explicit policed_cluster(bool has_ipv6 = false, const std::string& refused = {}) {
    network_policies_options options{.node = "node",
                                     .run =
                                         [to = given](auto script, auto done) {
                                           to->push_back({std::move(script), std::move(done)});
                                         },
                                     .has_ipv6 = has_ipv6};
    if (*refusal = refused; !refused.empty())
      options.check_ipv6 = [problem = refusal](auto done) { done(*problem); };
    actor = c.simulation().system().spawn(
        {.kind = "network-policies", .name = "node"},
        runtime::make<network_policies>(c.plane().core_actors().watcher, options));
    REQUIRE(c.run_until([&] { return given->size() == 1; }));
  }

  bool has(std::size_t count) {
    return c.run_until([&] { return given->size() >= count; });
  }
  void done(const std::string& problem = {}) {
    given->back().done(problem);
    c.settle();
  }
  void put_policy(const std::string& name, std::string_view spec) {
    c.create(policy_object(name, spec)->as<NetworkPolicy>());
  }
  answer guard(const pod_example& pod, const std::vector<std::string>& more = {}) {
    auto body = std::make_unique<Pod>(pod_body({pod.name, "", pod.with, pod.ports}));
    const auto made = std::make_shared<std::optional<std::string>>();
    std::vector<std::string> addresses{pod.address};
    addresses.insert(addresses.end(), more.begin(), more.end());
    actor.tell(actors::nft::guard_pod{
        std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(body), 1), addresses,
        [made](std::string problem) { *made = std::move(problem); }});
    c.settle();
    return made;
  }
  std::string last() const { return given->back().text; }
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}
bool is_whole(const std::string& script) {
  return has(script, "delete table ip troupe-policy");
}

const pod_example web_pod{"default/web", "10.42.0.1", {{"app", "web"}}};
const auto deny = "{podSelector: {matchLabels: {app: web}}}";

}  // namespace

TEST_CASE("a pod starts at once where no policy is there", "[policies]") {
  policed_cluster p;
  p.done();
  const auto answered = p.guard(web_pod);
  CHECK(*answered == "");
  CHECK(p.given->size() == 1);
}

TEST_CASE("a pod that a policy selects starts when its rules are in force", "[policies]") {
  policed_cluster p;
  p.done();
  p.put_policy("default/deny", deny);
  p.c.settle();
  const auto answered = p.guard(web_pod);
  REQUIRE(p.has(2));
  CHECK_FALSE(*answered);
  CHECK_FALSE(is_whole(p.last()));
  CHECK(has(p.last(), "add element ip troupe-policy ingress { 10.42.0.1 : jump "));
  p.done();
  CHECK(*answered == "");
  CHECK(*p.guard(web_pod) == "");
  CHECK(p.given->size() == 2);
}

TEST_CASE("pods that were asked for while a script runs wait for the next one", "[policies]") {
  policed_cluster p;
  p.put_policy("default/deny", deny);
  p.c.settle();
  const auto answered = p.guard(web_pod);
  CHECK(p.given->size() == 1);
  p.done();
  REQUIRE(p.has(2));
  CHECK_FALSE(*answered);
  p.done();
  CHECK(*answered == "");
}

TEST_CASE("a pod of two families starts when the rules of both are in force", "[policies]") {
  policed_cluster p;
  p.done();
  p.put_policy("default/deny", deny);
  p.c.settle();
  p.guard({"default/free", "10.42.0.9"}, {"fd00:42::9"});
  for (const auto& script : *p.given)
    CHECK_FALSE(has(script.text, "ip6 troupe-policy"));
  const auto answered = p.guard(web_pod, {"fd00:42::1"});
  REQUIRE(p.has(2));
  CHECK_FALSE(*answered);
  CHECK(has(p.last(), "add element ip troupe-policy ingress { 10.42.0.1 : jump "));
  CHECK(has(p.last(), "delete table ip6 troupe-policy"));
  CHECK(has(p.last(), "add element ip6 troupe-policy ingress { fd00:42::1 : jump "));
  p.done();
  CHECK(*answered == "");
  SECTION("and the next one of IPv6 alone changes the table of IPv6") {
    const auto next = p.guard({"default/other", "fd00:42::2", {{"app", "web"}}});
    REQUIRE(p.has(3));
    CHECK(has(p.last(), "add element ip6 troupe-policy ingress { fd00:42::2 : jump "));
    CHECK_FALSE(has(p.last(), "ip troupe-policy"));
    CHECK_FALSE(has(p.last(), "delete table"));
    CHECK_FALSE(*next);
    p.done("nft: no such table");
    REQUIRE(p.has(4));
    CHECK(is_whole(p.last()));
    CHECK(has(p.last(), "delete table ip6 troupe-policy"));
  }
  SECTION("and the table of IPv6 becomes empty with the last policy") {
    p.c.remove<NetworkPolicy>("default", "deny");
    REQUIRE(p.has(3));
    CHECK(has(p.last(), "delete element ip6 troupe-policy ingress { fd00:42::1 }"));
  }
}

// Its rules may be from before a restart, and of policies that were deleted meanwhile.
TEST_CASE("a node with IPv6 rewrites that table at its start, also without policies",
          "[policies]") {
  policed_cluster p{true};
  CHECK(has(p.last(), "delete table ip6 troupe-policy"));
  CHECK_FALSE(has(p.last(), "add element ip6"));
}

TEST_CASE("a node whose IPv6 was refused rewrites that table once it is accepted", "[policies]") {
  policed_cluster p{false, "nft took longer than 30000 ms"};
  CHECK_FALSE(has(p.last(), "ip6 troupe-policy"));
  p.done();
  p.refusal->clear();
  REQUIRE(p.c.run_until(
      [&, answered = p.given->size()]() mutable {
        for (; answered < p.given->size() && !has(p.last(), "ip6 troupe-policy"); ++answered)
          p.given->back().done({});
        return has(p.last(), "ip6 troupe-policy");
      },
      std::chrono::seconds{61}));
  CHECK(has(p.last(), "delete table ip6 troupe-policy"));
  CHECK_FALSE(has(p.last(), "chain ip troupe-policy"));
}

TEST_CASE("a failure of nft is told to the pods that wait, and all is written again",
          "[policies]") {
  policed_cluster p;
  p.done();
  p.put_policy("default/deny", deny);
  p.c.settle();
  const auto answered = p.guard(web_pod);
  REQUIRE(p.has(2));
  p.done("nft: no such table");
  CHECK(*answered == "nft: no such table");
  SECTION("after a pause") {
    REQUIRE(p.has(3));
  }
  SECTION("or at once when a pod asks") {
    const auto again = p.guard(web_pod);
    CHECK(p.given->size() == 3);
    p.done();
    CHECK(*again == "");
  }
  CHECK(is_whole(p.given->at(2).text));
  CHECK(has(p.given->at(2).text, "10.42.0.1 : jump "));
}

TEST_CASE("a crash of the actor loses no rule of a pod whose status has its address",
          "[policies]") {
  policed_cluster p;
  p.done();
  p.put_policy("default/deny", deny);
  const auto body = pod_body(web_pod);
  p.c.create(body);
  p.c.change<Pod>("default", "web", [&](Pod& pod) { *pod.mutable_status() = body.status(); });
  REQUIRE(p.has(2));
  CHECK(has(p.last(), "10.42.0.1 : jump "));
  p.done();
  const auto before = p.given->size();
  p.c.crash("network-policies", "node");
  REQUIRE(p.has(before + 1));
  CHECK(is_whole(p.last()));
  CHECK(has(p.last(), "10.42.0.1 : jump "));
}

TEST_CASE("the end of a script of an earlier life lets no pod start", "[policies]") {
  policed_cluster p;
  const auto body = pod_body(web_pod);
  p.c.create(body);
  p.put_policy("default/deny", deny);
  p.c.settle();
  const auto first = p.given->back();
  p.c.crash("network-policies", "node");
  REQUIRE(p.has(2));
  const auto answered = p.guard(web_pod);
  first.done({});
  p.c.settle();
  CHECK(p.given->size() == 2);
  CHECK_FALSE(*answered);
  p.done();
  REQUIRE(p.has(3));
  p.done();
  CHECK(*answered == "");
}

TEST_CASE("a script that never ends is told to the pods that wait, and all is written again",
          "[policies]") {
  policed_cluster p;
  p.done();
  p.put_policy("default/deny", deny);
  p.c.settle();
  const auto answered = p.guard(web_pod);
  REQUIRE(p.has(2));
  REQUIRE(p.c.run_until([&] { return answered->has_value(); }, std::chrono::minutes{3}));
  CHECK(*answered == "nft has not ended after 120s");
  REQUIRE(p.has(3));
  CHECK(is_whole(p.last()));
}

TEST_CASE("an address goes to the pod that the node gave it to last", "[policies]") {
  policed_cluster p;
  p.done();
  p.put_policy("default/deny", deny);
  p.c.settle();
  p.guard(web_pod);
  REQUIRE(p.has(2));
  p.done();
  const auto next = p.guard({"default/free", "10.42.0.1"});
  REQUIRE(p.has(3));
  CHECK(has(p.last(), "delete element ip troupe-policy ingress { 10.42.0.1 }"));
  CHECK_FALSE(*next);
  p.done();
  CHECK(*next == "");
}

TEST_CASE("pods of other nodes are held only while there is a policy", "[policies]") {
  policed_cluster p;
  const auto held = [&] {
    std::string text;
    p.c.simulation().system().request<runtime::description>(
        p.actor, runtime::describe{}, std::chrono::seconds{1},
        [&](const auto& answer) { text = answer ? (*answer)->text : "no answer"; });
    p.c.settle();
    return text;
  };
  p.c.create(pod_body(web_pod));
  p.c.create(pod_body({"default/far", "10.42.1.1", {}, {}, "other"}));
  p.c.settle();
  CHECK_THAT(held(), Catch::Contains("pods: 1\n"));
  for (int i = 0; i < 2; ++i) {
    p.put_policy("default/deny", deny);
    p.c.settle();
    CHECK_THAT(held(), Catch::Contains("pods: 2\n"));
    p.c.remove<NetworkPolicy>("default", "deny");
    p.c.settle();
    CHECK_THAT(held(), Catch::Contains("pods: 1\n"));
  }
}

}  // namespace troupe::test
