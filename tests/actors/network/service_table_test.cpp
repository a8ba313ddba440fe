// Scripts for nft and their effects, in a network namespace of the test.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>

#include "actors/network/services/endpoint_choice.hpp"
#include "actors/network/services/nft_table.hpp"
#include "actors/network/services/service_counts.hpp"
#include "support/network/service_examples.hpp"

namespace troupe::test {

using namespace actors::services;

namespace {

const node_place here{"here", "east"};

// The elements of IPv4.
elements elements_of(const api::object& service, const std::vector<api::object_ptr>& slices,
                     const node_place& node) {
  return actors::services::elements_of(service, slices, node, family_v4);
}

std::string data_of(const elements& of, const std::string& collection, const std::string& key) {
  const auto found = of.find({collection, key});
  return found == of.end() ? "none" : found->second;
}

api::core::v1::Service node_port_service(const std::string& policy) {
  auto body = service_body("web", "10.96.0.20", {{"http", 80}});
  body.mutable_spec()->set_type("NodePort");
  body.mutable_spec()->mutable_ports(0)->set_node_port(30'080);
  body.mutable_spec()->set_external_traffic_policy(policy);
  return body;
}

std::vector<std::string> chosen(const std::vector<endpoint_example>& endpoints,
                                const std::string& internal = "Cluster") {
  auto body = service_body("web", "10.96.0.20", {{"http", 80}});
  body.mutable_spec()->set_internal_traffic_policy(internal);
  std::vector<std::string> out;
  for (const auto& each :
       choose_endpoints(body, body.spec().ports(0),
                        {slice_object("web", {{"http", 8'080}}, endpoints)}, here, family_v4)
           .internal)
    out.push_back(each.address);
  return out;
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("a service is spread over its ready endpoints", "[services]") {
  const auto made = elements_of(*service_object("web", "10.96.0.20", {{"http", 80}}),
                                {slice_object("web", {{"http", 8'080}},
                                              {{.address = "10.42.0.5"},
                                               {.address = "10.42.0.6"},
                                               {.address = "10.42.0.7", .ready = false}})},
                                here);
  CHECK(data_of(made, "service-ports", "10.96.0.20 . tcp . 80") == "goto pick-2");
  CHECK(data_of(made, "endpoints", "10.96.0.20 . tcp . 80 . 0") == "10.42.0.5 . 8080");
  CHECK(data_of(made, "endpoints", "10.96.0.20 . tcp . 80 . 1") == "10.42.0.6 . 8080");
  CHECK(data_of(made, "hairpin", "10.42.0.5 . 10.42.0.5").empty());
  CHECK(data_of(made, "cluster-ips", "10.96.0.20").empty());
}

TEST_CASE("counts are read from what nft prints", "[services]") {
  const auto counts = parse_counts("service-ports", R"(table ip troupe {
	map service-ports {
		type ipv4_addr . inet_proto . inet_service : verdict
		counter
		elements = { 10.96.0.20 . tcp . 80 counter packets 12 bytes 720 : goto pick-2,
			     10.96.0.20 . udp . 53 counter packets 0 bytes 0 : goto pick-1 }
	}
}
)");
  CHECK(counts == connection_counts{{{"service-ports", "10.96.0.20 . tcp . 80"}, 12},
                                    {{"service-ports", "10.96.0.20 . udp . 53"}, 0}});
  CHECK(parse_counts("service-ports", "{ 10.96.0.20 counter packets many").empty());
  CHECK(parse_counts("service-ports", " counter packets 1").empty());
  CHECK(parse_counts("service-ports", "").empty());
}

TEST_CASE("no service gets the traffic of DNS, of the API or of another service", "[services]") {
  const auto cluster = api::cidr::parse("10.96.0.0/12");
  const auto made_by = [&](const std::string& name, const std::string& address) {
    auto body = service_body(name, address, {{"", 80}});
    body.mutable_metadata()->set_namespace_("default");
    body.mutable_spec()->set_type("NodePort");
    body.mutable_spec()->mutable_ports(0)->set_node_port(30'080);
    for (const auto* each : {"10.96.0.10", "10.96.0.1", "10.96.0.33", "192.0.2.7"})
      body.mutable_spec()->add_external_ips(each);
    for (const auto* each : {"10.96.0.10", "10.96.0.34", "192.0.2.8"})
      body.mutable_status()->mutable_load_balancer()->add_ingress()->set_ip(each);
    std::set<std::string> keys;
    for (const auto& [key, data] : actors::services::elements_of(
             *object_of(body), {slice_object(name, {{"", 8'080}}, {{.address = "10.42.0.5"}})},
             here, family_v4, cluster))
      if (key.collection != "hairpin" && !key.collection.ends_with("endpoints"))
        keys.insert(key.collection + " " + key.key);
    return keys;
  };
  const std::set<std::string> outside{"service-ports 192.0.2.7 . tcp . 80",
                                      "service-ports 192.0.2.8 . tcp . 80",
                                      "node-ports tcp . 30080"};
  auto with = [&](const std::string& address) {
    auto all = outside;
    all.insert({"cluster-ips " + address, "service-ports " + address + " . tcp . 80"});
    return all;
  };
  CHECK(made_by("web", "10.96.0.20") == with("10.96.0.20"));
  CHECK(made_by("kubernetes", "10.96.0.1") == with("10.96.0.1"));
  CHECK(made_by("web", "10.96.0.1") == outside);
  CHECK(made_by("kubernetes", "10.96.0.10") == outside);
}

TEST_CASE("an inner address accepts packets of this machine and its pods only", "[services]") {
  const auto script = [](const std::string& inner) {
    return service_table{{.service_network = "10.96.0.0/12", .inner_address = inner}}.whole();
  };
  const std::string rule = R"(iifname != "lo" iifname != "veth*" ip daddr 10.96.0.1 drop)";
  CHECK(script("10.96.0.1").find(rule) != std::string::npos);
  CHECK(script({}).find("iifname !=") == std::string::npos);
}

TEST_CASE("one IPv6 address is one element, in whatever form it is written", "[services]") {
  const auto with = [](const std::string& address) {
    auto body = service_body("web", "10.96.0.20", {{"", 80}});
    body.mutable_spec()->add_cluster_ips("10.96.0.20");
    body.mutable_spec()->add_cluster_ips("FD00:10:96::0007");
    body.mutable_spec()->add_external_ips(address);
    return actors::services::elements_of(*object_of(body), {}, here, family_v6);
  };
  const auto made = with("2001:DB8::0:7");
  CHECK(made == with("2001:db8::7"));
  CHECK(data_of(made, "refused", "2001:db8::7 . tcp . 80") == "goto refuse");
  CHECK(data_of(made, "cluster-ips", "fd00:10:96::7").empty());
}

TEST_CASE("a service without endpoints refuses, headless and external ones have no rules",
          "[services]") {
  CHECK(data_of(elements_of(*service_object("web", "10.96.0.20", {{"", 80}}), {}, here), "refused",
                "10.96.0.20 . tcp . 80") == "goto refuse");
  CHECK(elements_of(*service_object("web", "None", {{"", 80}}), {}, here).empty());
  CHECK(elements_of(*external_service("web", "example.com"), {}, here).empty());
}

TEST_CASE("endpoints that end serve only while none is ready", "[services]") {
  const endpoint_example ending{.address = "10.42.0.5", .ready = false, .terminating = true};
  endpoint_example broken = ending;
  broken.address = "10.42.0.4";
  broken.serving = false;
  CHECK(chosen({ending, broken, {.address = "10.42.0.6"}}) == names{"10.42.0.6"});
  CHECK(chosen({ending, broken}) == names{"10.42.0.5"});
}

TEST_CASE("hints keep to the zone where every endpoint has some", "[services]") {
  const endpoint_example east{.address = "10.42.0.5", .zone = "east"};
  const endpoint_example west{.address = "10.42.0.6", .zone = "west"};
  const endpoint_example none{.address = "10.42.0.7"};
  CHECK(chosen({east, west}) == names{"10.42.0.5"});
  CHECK(chosen({west}) == names{"10.42.0.6"});
  CHECK(chosen({east, west, none}).size() == 3);
}

TEST_CASE("local policies keep to the node, and drop where it has none", "[services]") {
  const endpoint_example mine{.address = "10.42.0.5", .node = "here"};
  const endpoint_example other{.address = "10.42.0.6", .node = "there"};
  CHECK(chosen({mine, other}, "Local") == names{"10.42.0.5"});
  const auto slice = [](std::vector<endpoint_example> of) {
    return std::vector<api::object_ptr>{slice_object("web", {{"http", 8'080}}, of)};
  };
  const auto service = object_of(node_port_service("Local"));
  const auto with = elements_of(*service, slice({mine, other}), here);
  CHECK(data_of(with, "node-ports", "tcp . 30080") == "goto node-local-1");
  CHECK(data_of(with, "service-ports", "10.96.0.20 . tcp . 80") == "goto pick-2");
  const auto without = elements_of(*service, slice({other}), here);
  CHECK(data_of(without, "node-refused", "tcp . 30080") == "drop");
  const auto everywhere =
      elements_of(*object_of(node_port_service("Cluster")), slice({other}), here);
  CHECK(data_of(everywhere, "node-ports", "tcp . 30080") == "goto node-pick-1");
}

TEST_CASE("an address for some sources only is not served to all", "[services]") {
  auto body = node_port_service("Cluster");
  body.mutable_spec()->set_type("LoadBalancer");
  body.mutable_status()->mutable_load_balancer()->add_ingress()->set_ip("192.0.2.7");
  const std::vector<api::object_ptr> slices{
      slice_object("web", {{"http", 8'080}}, {{.address = "10.42.0.5"}})};
  const auto key = "192.0.2.7 . tcp . 80";
  CHECK(data_of(elements_of(*object_of(body), slices, here), "service-ports", key) ==
        "goto outer-pick-1");
  body.mutable_spec()->add_load_balancer_source_ranges("198.51.100.0/24");
  CHECK(data_of(elements_of(*object_of(body), slices, here), "service-ports", key) == "none");
}

TEST_CASE("a change is told as a difference, slots that go before those that come", "[services]") {
  service_table table{{.service_network = "10.96.0.0/12"}};
  const auto service = service_object("web", "10.96.0.20", {{"http", 80}});
  const auto put = [&](const std::vector<endpoint_example>& endpoints) {
    table.replace("default/web",
                  elements_of(*service, {slice_object("web", {{"http", 80}}, endpoints)}, here));
  };
  put({{.address = "10.42.0.5"}, {.address = "10.42.0.6"}});
  CHECK(table.whole().find("10.42.0.6 . 80") != std::string::npos);
  CHECK(table.difference().empty());
  put({{.address = "10.42.0.5"}, {.address = "10.42.0.6"}});
  CHECK(table.difference().empty());
  put({{.address = "10.42.0.5"}});
  const auto text = table.difference();
  CHECK(text.find("chain") == std::string::npos);
  CHECK(text.find("delete element ip troupe endpoints { 10.96.0.20 . tcp . 80 . 1 }") !=
        std::string::npos);
  CHECK(text.find("add element ip troupe service-ports { 10.96.0.20 . tcp . 80 : goto pick-1 }") !=
        std::string::npos);
  CHECK(text.find("10.42.0.5 . 80") == std::string::npos);
  table.replace("default/web", {});
  CHECK(table.difference().find("delete element ip troupe cluster-ips { 10.96.0.20 }") !=
        std::string::npos);
  CHECK(table.size() == 0);
}

TEST_CASE("a port with session affinity has chains and sets of its own", "[services]") {
  auto body = node_port_service("Cluster");
  body.mutable_spec()->set_session_affinity("ClientIP");
  const auto made = [&](const std::vector<endpoint_example>& endpoints) {
    return elements_of(*object_of(body), {slice_object("web", {{"http", 80}}, endpoints)}, here);
  };
  const auto first = made({{.address = "10.42.0.5"}, {.address = "10.42.0.6"}});
  CHECK(data_of(first, "service-ports", "10.96.0.20 . tcp . 80") ==
        "goto sticky/10.96.0.20/tcp/80");
  CHECK(data_of(first, "node-ports", "tcp . 30080") == "goto sticky-outer/10.96.0.20/tcp/80");
  CHECK(data_of(first, own_chain, "to/10.96.0.20/tcp/80/10.42.0.5/80") ==
        "update @clients/10.96.0.20/tcp/80/10.42.0.5/80 { ip saddr timeout 10800s }\n"
        "meta l4proto tcp dnat to 10.42.0.5:80");
  service_table table{{.service_network = "10.96.0.0/12"}};
  table.replace("default/web", first);
  table.whole();
  table.replace("default/web", made({{.address = "10.42.0.6"}}));
  const auto text = table.difference();
  CHECK(text.find("flush chain ip troupe sticky/10.96.0.20/tcp/80\n") != std::string::npos);
  CHECK(text.find("delete set ip troupe clients/10.96.0.20/tcp/80/10.42.0.5/80\n") !=
        std::string::npos);
  CHECK(text.find("clients/10.96.0.20/tcp/80/10.42.0.6/80 {") == std::string::npos);
  CHECK(table.difference().empty());
}

TEST_CASE("each family has a table of its own, with its addresses and endpoints alone",
          "[services]") {
  auto body = service_body("web", "10.96.0.20", {{"http", 80}});
  body.mutable_spec()->add_cluster_ips("fd00:10:96::20");
  body.mutable_spec()->add_external_ips("2001:db8::7");
  auto slice = slice_body("web", {{"http", 8'080}}, {{.address = "fd00:42::5"}});
  slice.set_address_type("IPv6");
  const std::vector slices{slice_object("web", {{"http", 8'080}}, {{.address = "10.42.0.5"}}),
                           object_of(slice)};
  const auto v4 = elements_of(*object_of(body), slices, here);
  const auto v6 = elements_of(*object_of(body), slices, here, family_v6);
  CHECK(data_of(v4, "endpoints", "10.96.0.20 . tcp . 80 . 0") == "10.42.0.5 . 8080");
  CHECK(data_of(v6, "endpoints", "fd00:10:96::20 . tcp . 80 . 0") == "fd00:42::5 . 8080");
  CHECK(data_of(v6, "service-ports", "2001:db8::7 . tcp . 80") == "goto outer-pick-1");
  for (const auto& [key, data] : v4)
    CHECK(key.key.find(':') == std::string::npos);
  service_table table{{.service_network = "fd00:10:96::/112", .family = &family_v6}};
  table.replace("default/web", v6);
  CHECK(table.whole().find(" ip troupe") == std::string::npos);
  CHECK(table.probe() == "add chain ip6 troupe services\n");
  body.mutable_spec()->mutable_cluster_ips()->RemoveLast();
  CHECK(elements_of(*object_of(body), slices, here, family_v6).empty());
}

TEST_CASE("more endpoints than chains were made for take the whole table", "[services]") {
  service_table table{{.service_network = "10.96.0.0/12"}};
  CHECK(table.whole().find("chain ip troupe pick-17") == std::string::npos);
  table.replace("default/a", {{{"service-ports", "10.96.0.20 . tcp . 80"}, "goto pick-17"}});
  const auto text = table.difference();
  CHECK(text.find("delete table ip troupe") != std::string::npos);
  CHECK(text.find("chain ip troupe pick-32") != std::string::npos);
  CHECK(table.difference().empty());
}

TEST_CASE("destinations by UDP are told with their endpoints until that is in force",
          "[services]") {
  service_table table{{.service_network = "10.96.0.0/12"}};
  const element_key slot{"endpoints", "10.96.0.20 . udp . 53 . 0"};
  table.replace("default/a", {{slot, "10.42.0.5 . 5353"},
                              {{"endpoints", "10.96.0.20 . tcp . 53 . 0"}, "10.42.0.5 . 5353"},
                              {{"node-endpoints", "udp . 30053 . 0"}, "10.42.0.6 . 5353"}});
  table.whole();
  const udp_endpoints both{{"10.96.0.20 . udp . 53", {"10.42.0.5 . 5353"}},
                           {"udp . 30053", {"10.42.0.6 . 5353"}}};
  CHECK(table.changed_udp() == both);
  table.in_force();
  CHECK(table.changed_udp().empty());
  table.replace("default/a", {});
  table.difference();
  const udp_endpoints none{{"10.96.0.20 . udp . 53", {}}, {"udp . 30053", {}}};
  CHECK(table.changed_udp() == none);
  table.whole();
  CHECK(table.changed_udp() == none);
}

TEST_CASE("a connection by UDP is stale where its endpoint is none of its destination",
          "[services]") {
  const udp_endpoints endpoints{{"10.96.0.20 . udp . 53", {"10.42.0.5 . 5353"}},
                                {"udp . 30053", {}}};
  const std::set<std::string> own{"192.0.2.1"};
  const auto stale = [&](const std::string& destination, std::uint16_t port,
                         const std::string& endpoint) {
    return is_stale({destination, port, endpoint, {}}, endpoints, own);
  };
  CHECK_FALSE(stale("10.96.0.20", 53, "10.42.0.5 . 5353"));
  CHECK(stale("10.96.0.20", 53, "10.42.0.6 . 5353"));
  CHECK_FALSE(stale("10.96.0.20", 54, "10.42.0.6 . 5353"));
  CHECK(stale("192.0.2.1", 30'053, "192.0.2.1 . 30053"));
  CHECK_FALSE(stale("198.51.100.1", 30'053, "198.51.100.1 . 30053"));
}

TEST_CASE("truncated packets and other protocols are not UDP connections", "[services]") {
  CHECK_FALSE(read_connection(""));
  CHECK_FALSE(read_connection(std::string(4, '\0')));
  CHECK_FALSE(read_connection(std::string(4, '\0') + std::string("\x40\0\1\0abcd", 8)));
}

TEST_CASE("of two services that want one address the first has it until it goes", "[services]") {
  service_table table{{.service_network = "10.96.0.0/12"}};
  table.whole();
  const element_key key{"service-ports", "192.0.2.7 . tcp . 80"};
  table.replace("default/b", {{key, "goto pick-2"}});
  CHECK(table.difference().find("goto pick-2 }") != std::string::npos);
  table.replace("default/a", {{key, "goto pick-1"}});
  CHECK(table.difference().find("goto pick-1 }") != std::string::npos);
  table.replace("default/a", {});
  CHECK(table.difference().find("goto pick-2 }") != std::string::npos);
}

}  // namespace troupe::test
