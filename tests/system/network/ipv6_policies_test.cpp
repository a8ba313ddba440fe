// The rules of network policies for pods with addresses of both families, on a machine with pods
// (pod_machine.hpp).
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "actors/network/policies/policy_table.hpp"
#include "actors/network/services/nft_table.hpp"
#include "support/network/policy_examples.hpp"
#include "system/network/pod_machine.hpp"
#include "system/network/speaker.hpp"

namespace troupe::test {

using namespace actors::policies;
using actors::services::family_v4;
using actors::services::family_v6;

namespace {

struct both_addresses {
  std::string v4, v6;
};

const both_addresses web{"10.42.0.11", "fd00:42::11"}, client{"10.42.0.12", "fd00:42::12"},
    stranger{"10.42.0.13", "fd00:42::13"};
constexpr int port = 8080;
// How long to wait for a packet that is dropped.
constexpr std::chrono::milliseconds dropped_after{500};

struct dual_guarded_machine : pod_machine {
  network_space &pod_web = add_pod(web.v4, web.v6), &pod_client = add_pod(client.v4, client.v6),
                &pod_stranger = add_pod(stranger.v4, stranger.v6);
  speaker web_speaker{pod_web, "web", SOCK_STREAM, "::"};
  policy_table table{family_v4}, table_v6{family_v6};

  void have(const std::string& spec) {
    for (auto* each : {&table, &table_v6}) {
      const bool v6 = each == &table_v6;
      const auto pod = [&](const std::string& name, const both_addresses& at, const char* app) {
        return policy_pod_of({name, v6 ? at.v6 : at.v4, {{"app", app}}, {{"http", port}}});
      };
      each->want(compile({.family = v6 ? &family_v6 : &family_v4,
                          .policies = {policy_object("a/p", spec)},
                          .namespaces = {{"a", namespace_object("a", {})}},
                          .pods = {pod("a/web", web, "web"), pod("a/client", client, "client"),
                                   pod("a/stranger", stranger, "stranger")}}));
      run(each->difference());
    }
  }
  // The first packet of IPv6 may wait for the addresses of links.
  static bool reaches(const network_space& from, const std::string& to) {
    return call(from, to, port) == "web";
  }
  static bool drops(const network_space& from, const std::string& to) {
    return call(from, to, port, dropped_after) == "dropped";
  }
};

const std::string of_web = "{podSelector: {matchLabels: {app: web}}";

}  // namespace

TEST_CASE("a pod that policies select admits what they admit by both of its addresses",
          "[network][policies]") {
  if (!can_try_ipv6()) return;
  dual_guarded_machine c;
  CHECK(c.reaches(c.pod_stranger, web.v6));
  c.have(of_web + ", ingress: [{from: [{podSelector: {matchLabels: {app: client}}}]}]}");
  for (const auto& address : {web.v4, web.v6}) {
    CHECK(c.reaches(c.pod_client, address));
    CHECK(c.drops(c.pod_stranger, address));
    CHECK(c.drops(c.other, address));
    CHECK(c.reaches(c.machine, address));
  }
  SECTION("a block admits addresses of its own family") {
    c.have(of_web +
           ", ingress: [{from: [{ipBlock: {cidr: \"fd00:42::/64\", except: "
           "[\"fd00:42::13/128\"]}}], ports: [{port: http}]}]}");
    CHECK(c.reaches(c.pod_client, web.v6));
    CHECK(c.drops(c.pod_client, web.v4));
    CHECK(c.drops(c.pod_stranger, web.v6));
    c.have(of_web + ", ingress: [{from: [{ipBlock: {cidr: \"::/0\"}}], ports: [{port: 8081}]}]}");
    CHECK(c.drops(c.pod_client, web.v6));
  }
  SECTION("egress is guarded too, and a pod reaches itself by a service") {
    c.have(
        "{podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: "
        "\"fd00:42::12/128\"}}]}]}");
    CHECK(c.drops(c.pod_client, web.v6));
    actors::services::service_table services{{.service_network = "fd00:10:96::/112",
                                              .pod_network = "fd00:42::/56",
                                              .family = &family_v6}};
    services.replace("web", {{{"cluster-ips", "fd00:10:96::1"}, ""},
                             {{"service-ports", "fd00:10:96::1 . tcp . 80"}, "goto pick-1"},
                             {{"endpoints", "fd00:10:96::1 . tcp . 80 . 0"}, web.v6 + " . 8080"},
                             {{"hairpin", web.v6 + " . " + web.v6}, ""}});
    c.run(services.whole());
    CHECK(call(c.pod_web, "fd00:10:96::1", 80) == "web");
    CHECK(call(c.pod_client, "fd00:10:96::1", 80, dropped_after) == "dropped");
  }
}

}  // namespace troupe::test
