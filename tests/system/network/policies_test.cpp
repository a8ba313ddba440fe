// The rules of network policies, on a machine with pods (pod_machine.hpp).
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "actors/network/policies/policy_table.hpp"
#include "actors/network/services/nft_process.hpp"
#include "actors/network/services/nft_table.hpp"
#include "support/network/policy_examples.hpp"
#include "support/network/random_policies.hpp"
#include "support/seeds.hpp"
#include "system/network/pod_machine.hpp"
#include "system/network/speaker.hpp"

namespace troupe::test {

using namespace actors::policies;
using std::chrono::milliseconds;

namespace {

const std::string web = "10.42.0.11", client = "10.42.0.12", stranger = "10.42.0.13",
                  machine_address = "192.0.2.1", other_address = "192.0.2.2";
constexpr int port = 8080;
// How long to wait for a packet that is dropped.
constexpr milliseconds dropped_after{500};

struct guarded_machine : pod_machine {
  network_space &pod_web = add_pod(web), &pod_client = add_pod(client),
                &pod_stranger = add_pod(stranger);
  speaker web_speaker{pod_web, "web", SOCK_STREAM},
      client_speaker{pod_client, "client", SOCK_STREAM};
  policy_state state;
  policy_table table;

  guarded_machine() {
    state.namespaces = {{"a", namespace_object("a", {})},
                        {"b", namespace_object("b", {{"team", "red"}})}};
    state.pods = {policy_pod_of({"a/web", web, {{"app", "web"}}, {{"http", port}}}),
                  policy_pod_of({"a/client", client, {{"app", "client"}}}),
                  policy_pod_of({"b/stranger", stranger, {{"app", "client"}}})};
    run(table.whole());
  }

  // Replaces the previous ones, by a difference.
  void have(const std::vector<std::string>& specs) {
    state.policies.clear();
    for (const auto& spec : specs)
      state.policies.push_back(policy_object("a/p" + std::to_string(state.policies.size()), spec));
    change();
  }
  void change() {
    table.want(compile(state));
    run(table.difference());
  }
  bool reaches(const network_space& from, const std::string& to, int at = port) const {
    return call(from, to, at) != "dropped";
  }
  bool drops(const network_space& from, const std::string& to, int at = port) const {
    return call(from, to, at, dropped_after) == "dropped";
  }
};

const std::string of_web = "{podSelector: {matchLabels: {app: web}}";

// The lines of a table as the kernel has it, sorted: the kernel's order of chains and sets
// depends on the order of their creation.
std::vector<std::string> listed(const network_space& in, const address_family& family) {
  std::string text;
  in.run([&] {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> out{
        ::popen(fmt::format("nft -s list table {}", family.policies).c_str(), "r"), &::pclose};
    std::array<char, 4'096> part;
    while (const auto size = std::fread(part.data(), 1, part.size(), out.get()))
      text.append(part.data(), size);
  });
  std::vector<std::string> lines;
  std::istringstream read{text};
  for (std::string line; std::getline(read, line);)
    lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("a pod that policies select admits what they admit", "[network][policies]") {
  if (!can_try_rules()) return;
  guarded_machine c;
  CHECK(c.reaches(c.pod_stranger, web));
  c.have({of_web + ", ingress: [{from: [{podSelector: {matchLabels: {app: client}}}]}]}"});
  CHECK(c.reaches(c.pod_client, web));
  CHECK(c.drops(c.pod_stranger, web));
  CHECK(c.drops(c.other, web));
  CHECK(c.reaches(c.pod_stranger, client));
  SECTION("the machine always reaches its pods, for probes, and they reach it") {
    CHECK(c.reaches(c.machine, web));
    CHECK(c.reaches(c.pod_web, machine_address));
  }
  SECTION("pods of other namespaces by the labels of these") {
    c.have({of_web + ", ingress: [{from: [{namespaceSelector: {matchLabels: {team: red}}}]}]}"});
    CHECK(c.reaches(c.pod_stranger, web));
    CHECK(c.drops(c.pod_client, web));
  }
  SECTION("blocks of addresses, but for what they leave out") {
    c.have({of_web + ", ingress: [{from: [{ipBlock: {cidr: 192.0.2.0/24}}]}]}"});
    CHECK(c.reaches(c.other, web));
    CHECK(c.drops(c.pod_client, web));
    c.have({of_web + ", ingress: [{from: [{ipBlock: {cidr: 192.0.2.0/24, except: "
                     "[192.0.2.2/32]}}]}]}"});
    CHECK(c.drops(c.other, web));
  }
  SECTION("pods that come and go change what is admitted") {
    c.state.pods.back() = policy_pod_of({"a/client-2", stranger, {{"app", "client"}}});
    c.change();
    CHECK(c.reaches(c.pod_stranger, web));
    c.state.pods.pop_back();
    c.change();
    CHECK(c.drops(c.pod_stranger, web));
  }
  SECTION("and is free again without them") {
    c.have({});
    CHECK(c.reaches(c.pod_stranger, web));
  }
}

TEST_CASE("ports of policies are numbers, names and ranges", "[network][policies]") {
  if (!can_try_rules()) return;
  guarded_machine c;
  // Refused: the packet was admitted, but there is no listener.
  const auto ports = [&](const std::string& list) {
    c.have({of_web + ", ingress: [{ports: [" + list + "]}]}"});
  };
  ports("{port: 8080}");
  CHECK(c.reaches(c.pod_client, web));
  CHECK(c.drops(c.pod_client, web, 8081));
  ports("{port: 8081, endPort: 8082}");
  CHECK(c.drops(c.pod_client, web, 8080));
  CHECK(c.reaches(c.pod_client, web, 8082));
  ports("{port: http}, {protocol: UDP, port: 8081}");
  CHECK(c.reaches(c.pod_client, web, 8080));
  CHECK(c.drops(c.pod_client, web, 8081));
  ports("{protocol: UDP}");
  CHECK(c.drops(c.pod_client, web));
}

TEST_CASE("egress is guarded as ingress is, and both ends are asked", "[network][policies]") {
  if (!can_try_rules()) return;
  guarded_machine c;
  const std::string of_client = "{podSelector: {matchLabels: {app: client}}, policyTypes: [Egress]";
  c.have({of_client + "}"});
  CHECK(c.drops(c.pod_client, web));
  CHECK(c.drops(c.pod_client, other_address));
  CHECK(c.reaches(c.pod_stranger, web));
  CHECK(c.reaches(c.pod_web, client));
  c.have({of_client + ", egress: [{to: [{podSelector: {}}], ports: [{port: http}]}]}"});
  CHECK(c.reaches(c.pod_client, web));
  CHECK(c.drops(c.pod_client, stranger));
  c.have(
      {of_client + ", egress: [{to: [{podSelector: {}}], ports: [{port: http}]}]}", of_web + "}"});
  CHECK(c.drops(c.pod_client, web));
}

TEST_CASE("policies judge the pod behind a service, and a pod reaches itself by one",
          "[network][policies]") {
  if (!can_try_rules()) return;
  guarded_machine c;
  actors::services::service_table services{
      {.service_network = "10.96.0.0/12", .pod_network = "10.42.0.0/16"}};
  services.replace("web", {{{"cluster-ips", "10.96.0.100"}, ""},
                           {{"service-ports", "10.96.0.100 . tcp . 80"}, "goto pick-1"},
                           {{"endpoints", "10.96.0.100 . tcp . 80 . 0"}, web + " . 8080"},
                           {{"hairpin", web + " . " + web}, ""}});
  c.run(services.whole());
  c.have({of_web + ", policyTypes: [Ingress, Egress], ingress: [{from: [{podSelector: "
                   "{matchLabels: {app: client}}}]}]}"});
  CHECK(c.reaches(c.pod_client, "10.96.0.100", 80));
  CHECK(c.drops(c.pod_stranger, "10.96.0.100", 80));
  CHECK(c.reaches(c.pod_web, "10.96.0.100", 80));
}

TEST_CASE("a connection that was admitted goes on when a policy comes", "[network][policies]") {
  if (!can_try_rules()) return;
  guarded_machine c;
  const speaker by_udp{c.pod_web, "web", SOCK_DGRAM};
  const udp_client talking{c.pod_client, web, port};
  CHECK(talking.call() == "web");
  c.have({of_web + "}"});
  CHECK(talking.call() == "web");
  CHECK(c.drops(c.pod_client, web));
}

TEST_CASE("differences lead to the table that is written as a whole", "[network][policies]") {
  const auto* family = GENERATE(as<const address_family*>{}, &actors::services::family_v4,
                                &actors::services::family_v6);
  if (family->bits == 128 ? !can_try_ipv6() : !can_try_rules()) return;
  network_space by_steps, at_once;
  const auto run = [](const network_space& in, const std::string& script) {
    tl::expected<void, std::string> ran;
    in.run([&] {
      ran =
          actors::services::run_nft({*actors::services::find_nft()}, script, milliseconds{60'000});
    });
    INFO(script << (ran ? "" : ran.error()));
    REQUIRE(ran);
  };
  for_each_seed(8, [&](std::uint64_t seed) {
    random_policies random{seed, *family};
    auto state = random.state();
    policy_table table{*family};
    table.want(compile(state));
    run(by_steps, table.whole());
    for (int step = 0; step < 12; ++step) {
      random.change(state);
      table.want(compile(state));
      run(by_steps, table.difference());
    }
    run(at_once, table.whole());
    CHECK(listed(by_steps, *family) == listed(at_once, *family));
    CHECK(table.difference().empty());
  });
}

TEST_CASE("the table of policies touches no other, and goes as a whole", "[network][policies]") {
  if (!can_try_rules()) return;
  guarded_machine c;
  c.run("add table ip others\nadd chain ip others mine\n");
  c.have({of_web + "}"});
  c.run(no_policy_table(actors::services::family_v4));
  c.run("list chain ip others mine\n");
  CHECK(c.reaches(c.pod_client, web));
}

}  // namespace troupe::test
