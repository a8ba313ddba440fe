// The parts of the cluster's network that a node has, and address ranges from settings.
#include "tools/node/network_choice.hpp"

#include <catch2/catch.hpp>

#include "tools/node/node_options.hpp"

using namespace troupe;
using namespace troupe::tools;
using Catch::Matchers::Contains;
using config::network_mode;

namespace {

const std::string lacks_root = "it needs the right to change the network";

config::network_config settings(network_mode mode) {
  config::network_config made;
  made.mode = mode;
  return made;
}

network_choice chosen(network_mode mode, bool images, const std::string& missing = {}) {
  const auto made = choose_network(settings(mode), images, missing);
  REQUIRE(made);
  return *made;
}

std::string refusal(network_mode mode, bool images, const std::string& missing = {}) {
  const auto made = choose_network(settings(mode), images, missing);
  return made ? "none" : made.error();
}

}  // namespace

TEST_CASE("without a word a node has all of the network where pods run from images and it may") {
  const auto all = chosen(network_mode::automatic, true);
  CHECK((all.services && all.pods));
  CHECK_THAT(all.log, Contains("since they run from images"));
  const auto processes = chosen(network_mode::automatic, false);
  CHECK_FALSE((processes.services || processes.pods));
  CHECK_THAT(processes.log, Contains("do not run from images"));
  const auto powerless = chosen(network_mode::automatic, true, lacks_root);
  CHECK_FALSE((powerless.services || powerless.pods));
  CHECK_THAT(powerless.log, Contains(lacks_root));
}

TEST_CASE("a node's second address is the configured one, of the other family than the first") {
  config::node_config from;
  CHECK(second_address(from, "10.0.0.1", {}) == "");
  from.kubelet.second_address.text = "fd00::5";
  CHECK(second_address(from, "10.0.0.1", {"10.0.0.1", "fd00::5"}) == "fd00::5");
  const auto foreign = second_address(from, "10.0.0.1", {"10.0.0.1", "fd00::6"});
  REQUIRE_FALSE(foreign);
  CHECK(foreign.error() ==
        "kubelet.secondAddress: no interface of this machine that is up has the address fd00::5");
  const auto refused = second_address(from, "fd00::1", {"fd00::1", "fd00::5"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        "kubelet.secondAddress: the first address of this node is fd00::1, expected one of the "
        "other family; found fd00::5");
  CHECK(make_frontend_options(from).names == std::vector<std::string>{"fd00::5"});
}

TEST_CASE("a configured mode is used, or refused with the missing prerequisite") {
  CHECK(chosen(network_mode::pods, true).pods);
  CHECK_FALSE(chosen(network_mode::services, true).pods);
  CHECK(chosen(network_mode::services, false).services);
  CHECK_FALSE(chosen(network_mode::none, true).services);
  CHECK_THAT(refusal(network_mode::pods, false), Contains("needs a container runtime"));
  CHECK_THAT(refusal(network_mode::pods, true, lacks_root), Contains(lacks_root));
  CHECK_THAT(refusal(network_mode::services, true, lacks_root), Contains(lacks_root));
}

TEST_CASE("policies count as enforced only where they hold for every address of pods") {
  auto from = settings(network_mode::automatic);
  const auto guards = [&](bool images) {
    return guards_all_pods(*choose_network(from, images, {}), images);
  };
  CHECK(guards(true));
  CHECK_FALSE(guards(false));
  from.pod_cidrs.push_back("fd00:42::/56");
  CHECK(guards(true));
  // Pods share the machine's address.
  from.mode = network_mode::services;
  CHECK_FALSE(guards(false));
  // Another program assigns their addresses.
  CHECK(guards(true));
  from.mode = network_mode::none;
  CHECK_FALSE(guards(true));
}

TEST_CASE("a node without a range for pods has services alone, or reports it") {
  auto none = settings(network_mode::automatic);
  none.pod_cidrs.clear();
  const auto made = choose_network(none, true, {});
  REQUIRE(made);
  CHECK((made->services && !made->pods));
  none.mode = network_mode::pods;
  CHECK_FALSE(choose_network(none, true, {}));
}

TEST_CASE("services may have a range of IPv6 beside that of IPv4") {
  config::network_config from;
  CHECK(ipv6_services(from)->empty());
  from.service_cidrs.push_back("fd00:10:96::/112");
  CHECK(ipv6_services(from) == "fd00:10:96::/112");
  const auto refusal = [](const std::vector<std::string>& ranges) {
    config::network_config of;
    of.service_cidrs = ranges;
    return ipv6_services(of).error();
  };
  const std::string v4 = "10.96.0.0/12", v6 = "fd00:10:96::/112";
  for (const std::string text : {"fd00:10:96::", "fd00:10:96::/64", "10.112.0.0/12"})
    CHECK_THAT(refusal({v4, text}), Contains("network.serviceCidrs: service network \"" + text));
  CHECK_THAT(refusal({v4, v6, "fd00:10:97::/112"}), Contains("at most one range of each family"));
  CHECK_THAT(refusal({v6}), Contains("must contain 10.96.0.0/12"));
}

TEST_CASE("ports of the control plane, its etcd and the configuration are reserved") {
  config::node_config from;
  from.server.listen = {"10.0.0.1", 6443};
  from.network.reserved_ports = {"22", "9100"};
  CHECK(reserved_ports(from) == std::vector<std::int32_t>{22, 9100, 6443, 6444});
  from.link.listen = {"10.0.0.1", 7000};
  from.etcd.endpoints = {"https://10.0.0.1:2379", "https://[fd00::2]:2479"};
  CHECK(reserved_ports(from) == std::vector<std::int32_t>{22, 9100, 6443, 7000});
  from.store.store = config::store_kind::etcd;
  CHECK(reserved_ports(from) == std::vector<std::int32_t>{22, 9100, 6443, 7000, 2379, 2479});
  for (const std::string text : {"ssh", "0", "65536"}) {
    from.network.reserved_ports = {text};
    CHECK(reserved_ports(from).error() ==
          "network.reservedPorts: expected ports from 1 to 65535; found " + text);
  }
}

TEST_CASE("ranges of the configuration are one of each family that can be divided") {
  config::node_config config;
  const auto made = make_pod_ranges(config);
  REQUIRE(made);
  REQUIRE(made->size() == 1);
  CHECK(made->front().size() == 256);
  config.network.pod_cidrs = {"10.42.0.0/16", "fd00:42::/56"};
  CHECK(make_pod_ranges(config)->size() == 2);
  config.network.pod_cidrs = {"10.42.0.0/16", "10.43.0.0/16"};
  CHECK_THAT(make_pod_ranges(config).error(), Contains("at most one range of each family"));
  config.network.pod_cidrs = {"10.42.0.0"};
  CHECK_THAT(make_pod_ranges(config).error(), Contains("network.podCidrs: \"10.42.0.0\""));
}
