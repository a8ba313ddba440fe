// The routes planned from the Nodes, the container runtime's file, and the actor with a simulated
// control plane and a machine played by the test.
#include "actors/network/routing/pod_network.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>

#include "actors/network/routing/cni_config.hpp"
#include "actors/network/routing/cni_folder.hpp"
#include "actors/network/routing/route_plan.hpp"
#include "support/cluster.hpp"
#include "support/nodes.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::test {

using namespace actors::routing;
using api::core::v1::Node;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

using node_map = std::map<std::string, api::object_ptr>;

api::cidr range(const std::string& text) {
  return *api::cidr::parse(text);
}

struct node_facts {
  std::string name, range, address;
  std::int64_t created = 0;
};

Node node_body(const node_facts& facts) {
  Node node;
  node.mutable_metadata()->set_name(facts.name);
  node.mutable_metadata()->mutable_creation_timestamp()->set_seconds(facts.created);
  node.mutable_spec()->set_pod_cidr(facts.range);
  auto& address = *node.mutable_status()->add_addresses();
  address.set_type("InternalIP");
  address.set_address(facts.address);
  return node;
}

node_map nodes(const std::vector<node_facts>& all) {
  node_map out;
  for (const auto& each : all)
    out[each.name] = std::make_shared<api::object>(api::kind_of<Node>(),
                                                   std::make_unique<Node>(node_body(each)), 1);
  return out;
}

const std::vector<api::cidr> cluster_range{range("10.42.0.0/16")};

node_ranges seen_by_a(std::vector<node_facts> others) {
  others.push_back({"a", "10.42.1.0/24", "192.0.2.1"});
  return ranges_of_nodes(nodes(others), "a", cluster_range);
}

const std::vector<own_link> one_link{{7, range("192.0.2.1/24"), 1'500}};

}  // namespace

// -- the rules ------------------------------------------------------------------------------------

TEST_CASE("a machine on a common link is reached straight, another one by the tunnel",
          "[pod_network]") {
  const auto plan = plan_routes(
      seen_by_a({{"near", "10.42.2.0/24", "192.0.2.2"}, {"far", "10.42.3.0/24", "198.51.100.3"}}),
      one_link, route_mode::automatic);
  CHECK(plan.problems.empty());
  CHECK(plan.direct == std::map<std::string, route>{{"10.42.2.0/24", {"192.0.2.2", 7, false}}});
  CHECK(plan.ranges_through == std::vector<std::string>{"10.42.3.0/24"});
  CHECK(plan.through.local == "192.0.2.1");
  CHECK(plan.through.addresses == std::vector<std::string>{"10.42.1.0"});
  REQUIRE(plan.through.peers.size() == 1);
  CHECK(plan.through.peers.at("10.42.3.0").machine == "198.51.100.3");
  CHECK(plan.through.peers.at("10.42.3.0").hardware == std::string("\x02\x42\x0a\x2a\x03\x00", 6));
  CHECK(plan.pod_mtu_bytes == 1'450);
}

TEST_CASE("IPv6 has the tunnel of IPv4 where the machines share no link of IPv6", "[pod_network]") {
  auto ranges = seen_by_a({{"near", "10.42.2.0/24", "192.0.2.2"}});
  ranges.own.insert(ranges.own.begin(), range("fd00:42:0:1::/64"));
  ranges.peers.push_back({"near", range("fd00:42:0:2::/64"), {}});
  ranges.peers.push_back({"v6", range("fd00:42:0:3::/64"), "2001:db8::3"});
  auto links = one_link;
  const auto plan = plan_routes(ranges, links, route_mode::automatic);
  CHECK(plan.direct.size() == 1);
  CHECK(plan.ranges_through == std::vector<std::string>{"fd00:42:0:2::/64"});
  CHECK(plan.through.addresses == std::vector<std::string>{"fd00:42:0:1::", "10.42.1.0"});
  CHECK(plan.through.hardware == std::string("\x02\x42\x0a\x2a\x01\x00", 6));
  REQUIRE(plan.through.peers.size() == 1);
  CHECK(plan.through.peers.at("fd00:42:0:2::").machine == "192.0.2.2");
  CHECK(plan.through.peers.at("fd00:42:0:2::").hardware ==
        std::string("\x02\x42\x0a\x2a\x02\x00", 6));
  CHECK(plan.problems ==
        std::vector<std::string>{
            "node v6: fd00:42:0:3::/64 has no tunnel: that of the node is of IPv6, that of this "
            "node of IPv4"});
  links.push_back({8, range("2001:db8::1/64"), 1'500});
  CHECK(plan_routes(ranges, links, route_mode::automatic).direct.at("fd00:42:0:3::/64") ==
        route{"2001:db8::3", 8, false});
  CHECK(plan_routes(ranges, links, route_mode::direct).problems.size() == 1);
}

TEST_CASE("machines that have only IPv6 addresses have a tunnel of IPv6", "[pod_network]") {
  node_ranges ranges;
  ranges.own = {range("fd00:42:0:1::/64")};
  ranges.own_address_v6 = "2001:db8:1::1";
  ranges.peers = {{"far", range("fd00:42:0:2::/64"), "2001:db8:2::2"},
                  {"both", range("fd00:42:0:3::/64"), "2001:db8:3::3"},
                  {"both", range("10.42.3.0/24"), "192.0.2.3"},
                  {"none", range("fd00:42:0:4::/64"), {}}};
  const std::vector<own_link> links{{7, range("2001:db8:1::1/64"), 1'500}};
  const auto plan = plan_routes(ranges, links, route_mode::automatic);
  CHECK(plan.pod_mtu_bytes == 1'430);
  CHECK(plan.through.local == "2001:db8:1::1");
  CHECK(plan.through.hardware == std::string("\x02\x42\xfd\x00\x00\x43", 6));
  REQUIRE(plan.through.peers.size() == 1);
  CHECK(plan.through.peers.at("fd00:42:0:2::").machine == "2001:db8:2::2");
  CHECK(plan.through.peers.at("fd00:42:0:2::").hardware ==
        std::string("\x02\x42\xfd\x00\x00\x40", 6));
  const std::string families =
      " has no tunnel: that of the node is of IPv4, that of this node of IPv6";
  CHECK(plan.problems ==
        std::vector<std::string>{
            "node both: fd00:42:0:3::/64" + families, "node both: 10.42.3.0/24" + families,
            "node none: fd00:42:0:4::/64 has no tunnel: the node has no address and range of one "
            "family"});
}

TEST_CASE("the way that the configuration names is the only one", "[pod_network]") {
  const auto ranges =
      seen_by_a({{"near", "10.42.2.0/24", "192.0.2.2"}, {"far", "10.42.3.0/24", "198.51.100.3"}});
  const auto tunnel = plan_routes(ranges, one_link, route_mode::tunnel);
  CHECK(tunnel.direct.empty());
  CHECK(tunnel.through.peers.size() == 2);
  const auto direct = plan_routes(ranges, one_link, route_mode::direct);
  CHECK(direct.direct.size() == 1);
  CHECK(direct.through == actors::routing::tunnel{});
  REQUIRE(direct.problems.size() == 1);
  CHECK_THAT(direct.problems[0], Contains("node far: 198.51.100.3 is on no link"));
}

TEST_CASE("a range that is not of the cluster, or another's, leads nowhere", "[pod_network]") {
  const auto ranges = seen_by_a({{"world", "0.0.0.0/0", "192.0.2.9"},
                                 {"old", "10.42.2.0/24", "192.0.2.2", 100},
                                 {"young", "10.42.2.0/24", "192.0.2.3", 200},
                                 {"all", "10.42.0.0/16", "192.0.2.4", 300},
                                 {"part", "10.42.2.64/26", "192.0.2.5", 400},
                                 {"mine", "10.42.1.0/24", "192.0.2.6"},
                                 {"here", "10.42.6.0/24", "127.0.0.1"}});
  REQUIRE(ranges.peers.size() == 1);
  CHECK(ranges.peers[0] == pod_peer{"old", range("10.42.2.0/24"), "192.0.2.2"});
  CHECK(ranges.own == std::vector{range("10.42.1.0/24")});
  CHECK(ranges.problems.size() == 6);
}

TEST_CASE("the network of pods is a file that runtimes read, with all ranges", "[pod_network]") {
  const cni_options options{.ranges = {range("10.42.1.0/24"), range("fd00:42::/64")},
                            .mtu_bytes = 1'450,
                            .addresses = "/var/lib/a \"folder\""};
  const auto plain = cni_config(options);
  CHECK_THAT(plain, Contains(R"("dataDir":"/var/lib/a \"folder\"")"));
  CHECK_THAT(plain, Contains(R"([{"subnet":"10.42.1.0/24"}],[{"subnet":"fd00:42::/64"}])"));
  CHECK_THAT(plain, Contains(R"({"dst":"0.0.0.0/0"},{"dst":"::/0"})"));
  CHECK_THAT(plain, !Contains("portmap"));
}

TEST_CASE("our file is written once and removed, files of others stay", "[pod_network]") {
  const scratch_folder folder;
  const auto networks = folder.path() / "net.d", marker = folder.path() / "marker";
  REQUIRE(write_cni_file(networks, "one", marker));
  const auto ours = networks / "10-troupe.conflist";
  CHECK_FALSE(foreign_network(networks));
  const auto written_at = fs::last_write_time(ours);
  REQUIRE(write_cni_file(networks, "one", marker));
  CHECK(fs::last_write_time(ours) == written_at);
  REQUIRE(write_cni_file(networks, "later", marker));
  std::string content;
  std::ifstream{ours} >> content;
  CHECK(content == "later");
  std::ofstream{networks / "README"} << "no network";
  CHECK_FALSE(foreign_network(networks));
  std::ofstream{networks / "87-other.conflist"} << "{}";
  CHECK(foreign_network(networks) == networks / "87-other.conflist");
  REQUIRE(remove_cni_file(marker));
  CHECK_FALSE(fs::exists(ours));
  CHECK_FALSE(fs::exists(marker));
  CHECK(fs::exists(networks / "87-other.conflist"));
}

TEST_CASE("a marker that names another file removes nothing", "[pod_network]") {
  const scratch_folder folder;
  const auto precious = folder.path() / "precious", marker = folder.path() / "marker";
  std::ofstream{precious} << "x";
  std::ofstream{marker} << precious.string();
  REQUIRE(remove_cni_file(marker));
  CHECK(fs::exists(precious));
}

// -- the actor ------------------------------------------------------------------------------------

namespace {

struct asked_network {
  node_ranges wanted;
  std::function<void(made_network)> done;
};

struct networked_cluster {
  std::shared_ptr<std::vector<asked_network>> asked =
      std::make_shared<std::vector<asked_network>>();
  std::shared_ptr<std::vector<std::string>> reported = std::make_shared<std::vector<std::string>>();
  cluster c{1};

  networked_cluster() {
    pod_network_options options;
    options.node = "a";
    options.cluster = cluster_range;
    options.make = [to = asked](node_ranges wanted, auto done) {
      to->push_back({std::move(wanted), std::move(done)});
    };
    options.report = [to = reported](std::string problem) { to->push_back(std::move(problem)); };
    c.simulation().system().spawn(
        {.kind = "pod-network", .name = "a"},
        runtime::make<pod_network>(c.plane().core_actors().watcher, options));
  }

  void add(const node_facts& facts) {
    c.create(node_body(facts));
    c.change<Node>({}, facts.name,
                   [&](Node& node) { *node.mutable_status() = node_body(facts).status(); });
    c.advance(std::chrono::seconds{1});
  }
  bool has(std::size_t count) {
    return c.run_until([&] { return asked->size() >= count; });
  }
};

}  // namespace

TEST_CASE("nothing is made before this node has a range, then one change at a time",
          "[pod_network]") {
  networked_cluster n;
  n.add({"b", "10.42.2.0/24", "192.0.2.2"});
  CHECK(n.asked->empty());
  n.add({"a", "10.42.1.0/24", "192.0.2.1"});
  REQUIRE(n.has(1));
  const auto first = n.asked->size();
  CHECK(n.asked->front().wanted.own == std::vector{range("10.42.1.0/24")});
  n.add({"c", "10.42.3.0/24", "192.0.2.3"});
  CHECK(n.asked->size() == first);
  n.asked->back().done({});
  REQUIRE(n.has(first + 1));
  CHECK(n.asked->back().wanted.peers.size() == 2);
  n.asked->back().done({});
  const auto settled = n.asked->size();
  post_ready(n.c, "b", "True");
  n.c.advance(std::chrono::seconds{1});
  CHECK(n.asked->size() == settled);
  n.c.remove<Node>({}, "c");
  REQUIRE(n.has(settled + 1));
  CHECK(n.asked->back().wanted.peers.size() == 1);
}

TEST_CASE("what failed is made again, and so is everything after a crash and once in a while",
          "[pod_network]") {
  networked_cluster n;
  n.add({"a", "10.42.1.0/24", "192.0.2.1"});
  REQUIRE(n.has(1));
  n.asked->back().done({{"no route"}});
  const auto failed = n.asked->size();
  REQUIRE(n.has(failed + 1));
  n.asked->back().done({});
  n.c.settle();
  const auto good = n.asked->size();
  n.c.crash("pod-network", "a");
  REQUIRE(n.has(good + 1));
  n.asked->back().done({});
  n.c.settle();
  const auto again = n.asked->size();
  CHECK(n.c.run_until([&] { return n.asked->size() > again; }, std::chrono::seconds{61}));
}

TEST_CASE("the problems of this machine are reported in one line, those of other nodes are not",
          "[pod_network]") {
  networked_cluster n;
  n.add({"b", "10.42.2.0/24", "127.0.0.1"});
  n.add({"a", "10.42.1.0/24", "192.0.2.1"});
  const auto finish = [&](const made_network& network) {
    const auto before = n.asked->size();
    n.asked->back().done(network);
    REQUIRE(n.has(before + 1));
    return n.reported->back();
  };
  REQUIRE(n.has(1));
  CHECK(finish({{"no route", "a firewall"}}) == "no route; a firewall");
  CHECK(finish({{std::string(5'000, 'x')}}) == std::string(1'024, 'x'));
  INFO("the network of another program");
  CHECK(finish({{"it is another's"}, false}).empty());
  CHECK(finish({{"no route"}}) == "no route");
  n.asked->back().done({});
  n.c.settle();
  CHECK(n.reported->back().empty());
}

TEST_CASE("a run that does not end is followed by another one, and its late answer is ignored",
          "[pod_network]") {
  networked_cluster n;
  n.add({"a", "10.42.1.0/24", "192.0.2.1"});
  REQUIRE(n.has(1));
  const auto lost = n.asked->size();
  REQUIRE(n.c.run_until([&] { return n.asked->size() > lost; }, std::chrono::seconds{130}));
  const auto repeated = n.asked->size();
  n.asked->at(lost - 1).done({{"no route"}});
  n.c.advance(std::chrono::seconds{5});
  CHECK(n.asked->size() == repeated);
}

}  // namespace troupe::test
