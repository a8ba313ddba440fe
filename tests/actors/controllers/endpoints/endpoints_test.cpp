// Endpoints: the rules as functions, and the controller in a simulated cluster.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "actors/controllers/endpoints/endpoint_list.hpp"
#include "actors/core/condition.hpp"
#include "actors/kubelet/simulated/simulated_fleet.hpp"
#include "api/codec/codec.hpp"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "support/nodes.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::endpoints::endpoints_of;
using actors::endpoints::most_addresses;
using actors::endpoints::target_of;
using api::core::v1::Endpoints;
using api::core::v1::Event;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;
using std::chrono::seconds;

namespace {

struct listed_pod {
  std::string name, ip;
  bool ready = true;
  std::string phase = "Running";
  bool deleted = false;
};

Pod pod_of(const listed_pod& from) {
  Pod pod;
  pod.mutable_metadata()->set_name(from.name);
  pod.mutable_metadata()->set_namespace_("default");
  pod.mutable_metadata()->set_uid("uid-" + from.name);
  (*pod.mutable_metadata()->mutable_labels())["app"] = "web";
  if (from.deleted) pod.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
  pod.mutable_spec()->set_node_name("n1");
  auto& port = *pod.mutable_spec()->add_containers()->add_ports();
  port.set_name("http");
  port.set_container_port(8080);
  port.set_protocol("TCP");
  pod.mutable_status()->set_phase(from.phase);
  pod.mutable_status()->set_pod_ip(from.ip);
  actors::set_condition(*pod.mutable_status()->mutable_conditions(),
                        {"Ready", from.ready ? "True" : "False"}, runtime::wall_time{});
  return pod;
}

api::object_ptr object_of(const Pod& pod) {
  return std::make_shared<const api::object>(api::kind_of<Pod>(), std::make_unique<Pod>(pod), 1);
}

std::vector<api::object_ptr> objects_of(const std::vector<listed_pod>& all) {
  std::vector<api::object_ptr> out;
  for (const auto& each : all)
    out.push_back(object_of(pod_of(each)));
  return out;
}

Service service(const std::string& target = "http") {
  Service made;
  made.mutable_metadata()->set_name("web");
  made.mutable_metadata()->set_namespace_("default");
  (*made.mutable_spec()->mutable_selector())["app"] = "web";
  auto& port = *made.mutable_spec()->add_ports();
  port.set_port(80);
  port.set_protocol("TCP");
  port.mutable_target_port()->set_type(1);
  port.mutable_target_port()->set_str_val(target);
  return made;
}

// "10.0.0.1,10.0.0.2|10.0.0.3:8080" for each subset: ready, not ready, ports.
std::string shown(const Endpoints& endpoints) {
  std::string out;
  const auto list = [&](const auto& addresses) {
    for (int i = 0; i < addresses.size(); ++i)
      out += (i == 0 ? "" : ",") + addresses[i].ip();
  };
  for (const auto& subset : endpoints.subsets()) {
    if (!out.empty()) out += ' ';
    list(subset.addresses());
    out += '|';
    list(subset.not_ready_addresses());
    for (const auto& port : subset.ports())
      out += ':' + std::to_string(port.port());
  }
  return out;
}

}  // namespace

TEST_CASE("a service has endpoints for running pods by readiness", "[endpoints]") {
  const auto pods = objects_of({{"c", "10.0.0.3"},
                                {"a", "10.0.0.1"},
                                {"b", "10.0.0.2", false},
                                {"ended", "10.0.0.4", true, "Succeeded"},
                                {"failed", "10.0.0.5", true, "Failed"},
                                {"new", ""},
                                {"going", "10.0.0.6", true, "Running", true}});
  CHECK(shown(*endpoints_of(service(), pods)) == "10.0.0.1,10.0.0.3|10.0.0.2:8080");
  auto all = service();
  all.mutable_spec()->set_publish_not_ready_addresses(true);
  CHECK(shown(*endpoints_of(all, pods)) == "10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.6|:8080");
  CHECK(shown(*endpoints_of(service("metrics"), pods)).empty());
  const auto made = endpoints_of(service(), pods);
  const auto& first = made->subsets(0).addresses(0);
  CHECK(first.target_ref().name() == "a");
  CHECK(first.node_name() == "n1");
}

TEST_CASE("a port of a service targets a number, or a named port of a container", "[endpoints]") {
  const auto pod = pod_of({"a", "10.0.0.1"});
  auto port = service().spec().ports(0);
  CHECK(target_of(port, pod) == 8080);
  port.set_protocol("UDP");
  CHECK(target_of(port, pod) == 0);
  port.mutable_target_port()->set_type(0);
  CHECK(target_of(port, pod) == 80);
  port.mutable_target_port()->set_int_val(9000);
  CHECK(target_of(port, pod) == 9000);
}

TEST_CASE("a headless service without ports has addresses only", "[endpoints]") {
  auto headless = service();
  headless.mutable_spec()->clear_ports();
  headless.mutable_spec()->set_cluster_ip("None");
  auto pod = pod_of({"db-0", "10.0.0.1"});
  pod.mutable_spec()->set_hostname("db-0");
  pod.mutable_spec()->set_subdomain("web");
  const auto made = endpoints_of(headless, {object_of(pod)});
  CHECK(shown(*made) == "10.0.0.1|");
  CHECK(made->subsets(0).addresses(0).hostname() == "db-0");
  CHECK(made->metadata().labels().contains("service.kubernetes.io/headless"));
}

TEST_CASE("pods with other ports are another subset, and the number of addresses is limited",
          "[endpoints]") {
  auto other = pod_of({"other", "10.0.0.9"});
  other.mutable_spec()->mutable_containers(0)->mutable_ports(0)->set_container_port(9090);
  auto pods = objects_of({{"a", "10.0.0.1"}, {"b", "10.0.0.2"}});
  pods.push_back(object_of(other));
  CHECK(shown(*endpoints_of(service(), pods)) == "10.0.0.1,10.0.0.2|:8080 10.0.0.9|:9090");

  std::vector<listed_pod> many;
  for (std::size_t i = 0; i <= most_addresses; ++i)
    many.push_back({"p" + std::to_string(i),
                    "10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250)});
  const auto made = endpoints_of(service(), objects_of(many));
  CHECK(made->subsets(0).addresses_size() == static_cast<int>(most_addresses));
  CHECK(made->metadata().annotations().at("endpoints.kubernetes.io/over-capacity") == "truncated");
}

TEST_CASE("endpoints follow the pods that a service selects, and are deleted with it",
          "[endpoints]") {
  cluster c{1};
  actors::simulated_fleet_options two;
  two.nodes = 2;
  const auto fleet =
      actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), two);
  const auto addresses = [&] {
    const auto found = c.find<Endpoints>("default", "web");
    int count = 0;
    if (found)
      for (const auto& subset : found->template as<Endpoints>().subsets())
        count += subset.addresses_size();
    return found ? count : -1;
  };
  auto by_number = service();
  by_number.mutable_spec()->mutable_ports(0)->clear_target_port();
  c.create(by_number);
  CHECK(c.run_until([&] { return addresses() == 0; }));
  c.create(replica_set("web", 3, {{"app", "web"}}));
  CHECK(c.run_until([&] { return addresses() == 3; }));

  INFO("a pod that is no longer selected");
  const auto name = c.list<Pod>().front()->meta().name();
  c.change<Pod>("default", name,
                [](Pod& pod) { (*pod.mutable_metadata()->mutable_labels())["app"] = "x"; });
  CHECK(c.run_until([&] {
    const auto& subsets = c.find<Endpoints>("default", "web")->as<Endpoints>().subsets();
    for (const auto& address : subsets[0].addresses())
      if (address.target_ref().name() == name) return false;
    return addresses() == 3;  // its ReplicaSet has created another one
  }));

  INFO("another selector");
  c.change<Service>("default", "web",
                    [](Service& each) { (*each.mutable_spec()->mutable_selector())["app"] = "x"; });
  CHECK(c.run_until([&] { return addresses() == 1; }));

  INFO("what somebody else has made of them is put right at the next change");
  c.remove<Endpoints>("default", "web");
  CHECK(c.run_until([&] { return addresses() == 1; }));
  c.remove<Service>("default", "web");
  CHECK(c.run_until([&] { return addresses() == -1; }));
  c.simulation().system().stop(fleet);
}

TEST_CASE("a service that loses its selector leaves its endpoints to the user", "[endpoints]") {
  cluster c{1};
  add_node(c, "n1");
  auto by_number = service();
  by_number.mutable_spec()->mutable_ports(0)->clear_target_port();
  c.create(by_number);
  REQUIRE(c.run_until([&] { return c.find<Endpoints>("default", "web") != nullptr; }));
  c.change<Service>("default", "web", [](Service& each) { each.mutable_spec()->clear_selector(); });
  c.settle();
  c.change<Endpoints>("default", "web", [](Endpoints& each) {
    auto& subset = *each.add_subsets();
    subset.add_addresses()->set_ip("192.0.2.7");
    auto& port = *subset.add_ports();
    port.set_port(80);
    port.set_protocol("TCP");
  });
  CHECK(c.run_until([&] {
    for (const auto& object : c.list<EndpointSlice>("default"))
      for (const auto& each : object->as<EndpointSlice>().endpoints())
        if (each.addresses(0) == "192.0.2.7") return true;
    return false;
  }));
  c.remove<Service>("default", "web");
  CHECK(c.run_until([&] { return c.find<Endpoints>("default", "web") == nullptr; }));
}

TEST_CASE("a service that is a name outside of the cluster has no endpoints", "[endpoints]") {
  cluster c{1};
  auto outside = service();
  outside.mutable_spec()->set_type("ExternalName");
  outside.mutable_spec()->set_external_name("db.example.com");
  c.create(outside);
  auto inside = service();
  inside.mutable_metadata()->set_name("inside");
  c.create(inside);
  REQUIRE(c.run_until([&] { return c.find<Endpoints>("default", "inside") != nullptr; }));
  c.settle();
  CHECK(c.find<Endpoints>("default", "web") == nullptr);
}

TEST_CASE("a service that asks for topology hints has them, and its events say so or why not",
          "[endpoints]") {
  cluster c{1};
  actors::simulated_fleet_options two;
  two.nodes = 2;
  const auto fleet =
      actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), two);
  REQUIRE(c.run_until([&] { return c.list<Node>().size() == 2; }));
  auto hinted = service();
  (*hinted.mutable_metadata()->mutable_annotations())["service.kubernetes.io/topology-mode"] =
      "Auto";
  hinted.mutable_spec()->mutable_ports(0)->clear_target_port();
  c.create(hinted);
  c.create(replica_set("web", 4, {{"app", "web"}}));
  const auto event = [&](const std::string& reason) {
    for (const auto& object : c.list<Event>())
      if (object->as<Event>().reason() == reason) return object->as<Event>().message();
    return std::string{};
  };
  CHECK(c.run_until([&] { return !event("TopologyAwareHintsDisabled").empty(); }));
  CHECK(event("TopologyAwareHintsDisabled") ==
        "Insufficient Node information: allocatable CPU or zone not specified on one or more "
        "nodes, addressType: IPv4");
  std::string zone = "a";
  for (const auto& node : c.list<Node>()) {
    c.change<Node>("", node->meta().name(), [&](Node& each) {
      (*each.mutable_metadata()->mutable_labels())["topology.kubernetes.io/zone"] = zone;
    });
    zone = "b";
  }
  INFO("nodes are looked at each minute");
  CHECK(c.run_until([&] { return !event("TopologyAwareHintsEnabled").empty(); },
                    std::chrono::minutes{2}));
  CHECK(c.run_until([&] {
    std::map<std::string, int> counts;
    for (const auto& slice : c.list<EndpointSlice>())
      for (const auto& each : slice->as<EndpointSlice>().endpoints())
        for (const auto& one : each.hints().for_zones())
          ++counts[one.name()];
    return counts == std::map<std::string, int>{{"a", 2}, {"b", 2}};
  }));
  c.simulation().system().stop(fleet);
}

TEST_CASE("events about topology hints name the family of the addresses", "[endpoints]") {
  cluster_options options;
  options.plane.services_v6 = "fd00:10:96::/112";
  cluster c{1, options};
  add_node(c, "n0");
  auto hinted = service();
  (*hinted.mutable_metadata()->mutable_annotations())["service.kubernetes.io/topology-mode"] =
      "Auto";
  for (const char* family : {"IPv6", "IPv4"})
    hinted.mutable_spec()->add_ip_families(family);
  hinted.mutable_spec()->set_ip_family_policy("RequireDualStack");
  c.create(hinted);
  const auto ends = [&] {
    std::set<std::string> found;
    for (const auto& object : c.list<Event>())
      if (const auto& event = object->as<Event>(); event.reason() == "TopologyAwareHintsDisabled")
        found.insert(event.message().substr(event.message().rfind(',')));
    return found;
  };
  CHECK(c.run_until([&] {
    return ends() == std::set<std::string>{", addressType: IPv4", ", addressType: IPv6"};
  }));
}

}  // namespace troupe::test
