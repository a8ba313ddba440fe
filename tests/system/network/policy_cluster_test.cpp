// Network policies on a joined machine: updates over the link, and rules that stay when the
// program is killed. Its pods are simulated, with addresses of their own.
#include <catch2/catch.hpp>
#include <string>

#include "system/network/joined_cluster.hpp"
#include "system/network/pod_machine.hpp"

using namespace troupe::test;
using Catch::Matchers::Contains;

namespace {

constexpr std::chrono::seconds limit{120};
const std::string client_address = "10.99.0.5";

// Pods of a node that does not exist are deleted after a while.
const char* const objects = R"(---
apiVersion: v1
kind: Node
metadata: {name: elsewhere}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  nodeName: m2
  containers: [{name: c, image: none}]
---
apiVersion: v1
kind: Pod
metadata: {name: client, labels: {app: client}}
spec:
  nodeName: elsewhere
  containers: [{name: c, image: none, env: [{name: WORD, value: hidden}]}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: guard}
spec:
  podSelector: {matchLabels: {app: web}}
  ingress:
  - from: [{podSelector: {matchLabels: {app: client}}}]
)";

cluster_flags with_rules() {
  auto out = patient();
  for (auto* each : {&out.control, &out.joined})
    each->insert(each->end(), {"--network-mode", "services", "--runtime", "simulated"});
  return out;
}

}  // namespace

TEST_CASE("policies hold on a machine that has joined, through a kill and until it leaves",
          "[network][policies]") {
  if (!can_try_rules()) return;
  joined_cluster c{1, with_rules()};
  auto& m2 = c.at(2);
  const auto made = c.apply(objects);
  INFO(made.output);
  REQUIRE(made.code == 0);
  const auto placed = c.kubectl(
      "patch pod client --subresource=status --type=merge -p "
      "'{\"status\":{\"phase\":\"Running\",\"hostIP\":\"192.0.2.9\",\"podIP\":\"" +
      client_address + "\"}}'");
  INFO(placed.output);
  REQUIRE(placed.code == 0);
  const auto address = [&] {
    const auto pods = c.pods();
    return pods.empty() ? std::string{} : pods.front().status().pod_ip();
  };
  REQUIRE(soon(limit, [&] { return !address().empty(); }));
  const auto web = address();
  const auto rules = [&] { return m2.run("nft list table ip troupe-policy").output; };
  const auto guarded = [&] {
    const auto text = rules();
    return text.find(web + " : jump ingress-") != text.npos &&
           text.find(client_address) != text.npos;
  };
  CHECK(soon(limit, guarded));
  INFO(rules());
  m2.kill();
  CHECK(guarded());
  m2.restart();
  CHECK(guarded());
  REQUIRE(c.kubectl("delete pod client --grace-period=0 --force").code == 0);
  CHECK(soon(limit, [&] { return rules().find(client_address) == std::string::npos; }));
  CHECK_THAT(rules(), Contains(web + " : jump ingress-"));
  REQUIRE(c.kubectl("delete networkpolicy guard").code == 0);
  CHECK(soon(limit, [&] { return rules().find("jump") == std::string::npos; }));
  REQUIRE(m2.run("troupe leave --data-dir data").code == 0);
  CHECK_THAT(m2.run("nft list tables").output, !Contains("troupe"));
}
