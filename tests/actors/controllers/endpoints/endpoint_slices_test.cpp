// EndpointSlices: plans for arbitrary pods and existing slices, checked against the guarantee.
#include "actors/controllers/endpoints/endpoint_slices.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "actors/core/condition.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::test {

using actors::endpoints::most_endpoints;
using actors::endpoints::plan_slices;
using api::core::v1::Pod;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;

namespace {

api::object_ptr pod_number(int number, bool ready, bool ends, int port) {
  auto pod = std::make_unique<Pod>();
  pod->mutable_metadata()->set_name(fmt::format("p{}", number));
  pod->mutable_metadata()->set_namespace_("default");
  pod->mutable_metadata()->set_uid(fmt::format("uid-{:04}", number));
  if (ends) pod->mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
  auto& declared = *pod->mutable_spec()->add_containers()->add_ports();
  declared.set_name("http");
  declared.set_container_port(port);
  declared.set_protocol("TCP");
  pod->mutable_status()->set_phase("Running");
  pod->mutable_status()->set_pod_ip(fmt::format("10.1.{}.{}", number / 250, number % 250));
  actors::set_condition(*pod->mutable_status()->mutable_conditions(),
                        {"Ready", ready ? "True" : "False"}, runtime::wall_time{});
  return std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(pod), 1);
}

Service web() {
  Service made;
  made.mutable_metadata()->set_name("web");
  made.mutable_metadata()->set_namespace_("default");
  auto& port = *made.mutable_spec()->add_ports();
  port.set_name("http");
  port.set_protocol("TCP");
  port.set_port(80);
  port.mutable_target_port()->set_type(1);
  port.mutable_target_port()->set_str_val("http");
  return made;
}

// The contents of the store after a plan was executed.
class slices_store {
 public:
  std::vector<api::object_ptr> all() const {
    std::vector<api::object_ptr> out;
    for (const auto& [name, each] : kept_)
      out.push_back(each);
    return out;
  }
  int carry_out(actors::endpoints::slice_plan plan) {
    const auto writes = plan.create.size() + plan.update.size() + plan.remove.size();
    for (const auto& each : plan.remove)
      kept_.erase(each->meta().name());
    for (auto& [before, after] : plan.update)
      put(before->meta().name(), std::move(after));
    for (auto& each : plan.create)
      put(fmt::format("web-{:05}", ++names_), std::move(each));
    return static_cast<int>(writes);
  }

 private:
  void put(const std::string& name, std::unique_ptr<EndpointSlice> slice) {
    slice->mutable_metadata()->set_name(name);
    kept_[name] = std::make_shared<const api::object>(api::kind_of<EndpointSlice>(),
                                                      std::move(slice), ++names_);
  }
  std::map<std::string, api::object_ptr> kept_;
  std::uint64_t names_ = 0;
};

}  // namespace

TEST_CASE("endpoints have the zone of their node, and a hint where the service prefers it",
          "[endpoints]") {
  const auto placed = [](int number, bool ready, const std::string& node) {
    auto pod = pod_number(number, ready, false, 8080)->copy_as<Pod>();
    pod->mutable_spec()->set_node_name(node);
    return std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(pod), 1);
  };
  const std::vector<api::object_ptr> pods{placed(1, true, "n1"), placed(2, false, "n1"),
                                          placed(3, true, "n2")};
  const auto zone_of = [](const std::string& node) {
    return node == "n1" ? std::string{"east"} : std::string{};
  };
  auto service = web();
  const auto hinted = [&] {
    const auto plan = plan_slices(service, pods, {}, zone_of);
    std::map<std::string, std::string> out;  // zone and hint by uid
    for (const auto& each : plan.create.at(0)->endpoints())
      out[each.target_ref().uid()] =
          each.zone() +
          (each.hints().for_zones().empty() ? "" : " for " + each.hints().for_zones(0).name());
    return out;
  };
  using zones = std::map<std::string, std::string>;
  CHECK(hinted() == zones{{"uid-0001", "east"}, {"uid-0002", "east"}, {"uid-0003", ""}});
  service.mutable_spec()->set_traffic_distribution("PreferClose");
  CHECK(hinted() == zones{{"uid-0001", "east for east"}, {"uid-0002", "east"}, {"uid-0003", ""}});
}

TEST_CASE("slices list each pod once, and an unchanged plan writes nothing", "[endpoints]") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random{seed};
    slices_store store;
    for (int round = 0; round < 6; ++round) {
      std::vector<api::object_ptr> pods;
      std::map<std::string, bool> expected;  // uid, ready
      const int count = random() % 4 == 0 ? 0 : static_cast<int>(random() % 350);
      for (int i = 0; i < 350 && static_cast<int>(pods.size()) < count; ++i) {
        if (random() % 3 == 0) continue;
        const bool ready = random() % 4 != 0, ends = random() % 8 == 0;
        pods.push_back(pod_number(i, ready, ends, random() % 10 == 0 ? 9090 : 8080));
        expected[pods.back()->meta().uid()] = ready && !ends;
      }
      store.carry_out(plan_slices(web(), pods, store.all()));
      std::map<std::string, bool> told;
      const auto slices = store.all();
      REQUIRE_FALSE(slices.empty());
      for (const auto& object : slices) {
        const auto& slice = object->as<EndpointSlice>();
        CHECK(slice.endpoints_size() <= most_endpoints);
        if (!expected.empty()) CHECK(slice.endpoints_size() > 0);
        CHECK(slice.metadata().labels().at("kubernetes.io/service-name") == "web");
        for (const auto& endpoint : slice.endpoints()) {
          const bool first =
              told.emplace(endpoint.target_ref().uid(), endpoint.conditions().ready()).second;
          CHECK(first);
        }
      }
      CHECK(told == expected);
      CHECK(store.carry_out(plan_slices(web(), pods, store.all())) == 0);
    }
  }
}

TEST_CASE("a service with two families has slices of each, with the pods' addresses of it",
          "[endpoints]") {
  const auto dual_pod = [](int number) {
    auto pod = pod_number(number, true, false, 8'080)->copy_as<Pod>();
    for (const auto& ip : {pod->status().pod_ip(), fmt::format("fd00:42::{}", number)})
      pod->mutable_status()->add_pod_ips()->set_ip(ip);
    return std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(pod), 1);
  };
  // The last has no address of IPv6.
  const std::vector<api::object_ptr> pods{dual_pod(1), dual_pod(2),
                                          pod_number(3, true, false, 8'080)};
  const auto addresses = [](const slices_store& store) {
    std::map<std::string, std::set<std::string>> out;
    for (const auto& each : store.all()) {
      auto& of_family = out[each->as<EndpointSlice>().address_type()];
      for (const auto& endpoint : each->as<EndpointSlice>().endpoints())
        of_family.insert(endpoint.addresses(0));
    }
    return out;
  };
  using by_family = std::map<std::string, std::set<std::string>>;
  const std::set<std::string> v4{"10.1.0.1", "10.1.0.2", "10.1.0.3"},
      v6{"fd00:42::1", "fd00:42::2"};
  auto service = web();
  slices_store store;
  store.carry_out(plan_slices(service, pods, store.all()));
  CHECK(addresses(store) == by_family{{"IPv4", v4}});
  service.mutable_spec()->add_ip_families("IPv4");
  service.mutable_spec()->add_ip_families("IPv6");
  CHECK(store.carry_out(plan_slices(service, pods, store.all())) == 1);
  CHECK(addresses(store) == by_family{{"IPv4", v4}, {"IPv6", v6}});
  CHECK(store.carry_out(plan_slices(service, pods, store.all())) == 0);
  service.mutable_spec()->clear_ip_families();
  service.mutable_spec()->add_ip_families("IPv6");
  CHECK(store.carry_out(plan_slices(service, pods, store.all())) == 1);
  CHECK(addresses(store) == by_family{{"IPv6", v6}});
  store.carry_out(plan_slices(service, {}, store.all()));
  CHECK(addresses(store) == by_family{{"IPv6", {}}});
}

TEST_CASE("an additional pod needs one write, and does not move the others", "[endpoints]") {
  slices_store store;
  std::vector<api::object_ptr> pods;
  for (int i = 0; i < 250; ++i)
    pods.push_back(pod_number(i, true, false, 8080));
  store.carry_out(plan_slices(web(), pods, store.all()));
  CHECK(store.all().size() == 3);
  pods.push_back(pod_number(250, true, false, 8080));
  CHECK(store.carry_out(plan_slices(web(), pods, store.all())) == 1);
  CHECK(store.all().size() == 3);
}

TEST_CASE("slices of a service that another controller manages are left alone", "[endpoints]") {
  const std::vector<api::object_ptr> pods{pod_number(1, true, false, 8080)};
  slices_store store;
  store.carry_out(plan_slices(web(), pods, store.all()));
  auto foreign = store.all().front()->copy_as<EndpointSlice>();
  auto& labels = *foreign->mutable_metadata()->mutable_labels();
  labels["endpointslice.kubernetes.io/managed-by"] = "mesh.example.dev";
  auto present = store.all();
  present.push_back(
      std::make_shared<const api::object>(api::kind_of<EndpointSlice>(), std::move(foreign), 9));
  CHECK(store.carry_out(plan_slices(web(), pods, present)) == 0);
}

}  // namespace troupe::test
