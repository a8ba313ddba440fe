// Pods of services come, change and go while all actors crash: at the end Endpoints and
// EndpointSlices must match the existing pods.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "support/cluster.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using api::core::v1::Endpoints;
using api::core::v1::Pod;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;

namespace {

constexpr int services = 4, pods = 12, labels = 3;

using addresses = std::set<std::string>;

class stage {
 public:
  stage(std::uint64_t seed, const cluster_options& options) : c{seed, options}, random_{seed} {}

  void act() {
    switch (random_() % 6) {
      case 0:
        return change_service(fmt::format("s{}", random_() % services));
      case 1:
        return remove_pod(pod_name());
      default:
        return change_pod(pod_name());
    }
  }

  // From the store: the addresses of ready pods that each service selects.
  addresses wanted(const Service& service) const {
    addresses out;
    const auto& selector = service.spec().selector();
    for (const auto& object : c.list<Pod>()) {
      const auto& pod = object->as<Pod>();
      const auto found = pod.metadata().labels().find("app");
      if (!selector.empty() && found->second == selector.at("app") &&
          !pod.metadata().has_deletion_timestamp())
        out.insert(pod.status().pod_ip());
    }
    return out;
  }
  addresses in_slices(const std::string& service) const {
    addresses out;
    for (const auto& object : c.list<EndpointSlice>()) {
      const auto& slice = object->as<EndpointSlice>();
      if (slice.metadata().labels().at("kubernetes.io/service-name") != service) continue;
      for (const auto& each : slice.endpoints())
        out.insert(each.addresses(0));
    }
    return out;
  }
  addresses in_endpoints(const std::string& service) const {
    addresses out;
    if (const auto found = c.find<Endpoints>("default", service))
      for (const auto& subset : found->as<Endpoints>().subsets())
        for (const auto& each : subset.addresses())
          out.insert(each.ip());
    return out;
  }
  // Endpoints of a service without a selector are not changed.
  bool is_right() const {
    for (const auto& object : c.list<Service>()) {
      const auto& service = object->as<Service>();
      if (service.spec().selector().empty()) continue;
      const auto& name = service.metadata().name();
      const auto all = wanted(service);
      if (in_slices(name) != all || in_endpoints(name) != all) return false;
    }
    return true;
  }

  cluster c;

 private:
  std::string pod_name() { return fmt::format("p{}", random_() % pods); }
  std::string label() { return fmt::format("l{}", random_() % labels); }

  void change_service(const std::string& name) {
    const bool selects = random_() % 5 != 0;
    const auto selected = label();
    const auto set = [&](Service& service) {
      service.mutable_spec()->mutable_selector()->clear();
      if (selects) (*service.mutable_spec()->mutable_selector())["app"] = selected;
    };
    if (!c.find<Service>("default", name)) {
      Service service;
      service.mutable_metadata()->set_name(name);
      service.mutable_spec()->add_ports()->set_port(80);
      set(service);
      c.create(service);
    } else if (random_() % 4 == 0) {
      c.remove<Service>("default", name);
    } else {
      c.change<Service>("default", name, set);
    }
  }
  void remove_pod(const std::string& name) {
    if (c.find<Pod>("default", name)) c.remove<Pod>("default", name, 0);
  }
  void change_pod(const std::string& name) {
    const auto app = label();
    if (c.find<Pod>("default", name)) {
      c.change<Pod>("default", name,
                    [&](Pod& pod) { (*pod.mutable_metadata()->mutable_labels())["app"] = app; });
      return;
    }
    Pod pod;
    pod.mutable_metadata()->set_name(name);
    (*pod.mutable_metadata()->mutable_labels())["app"] = app;
    pod.mutable_spec()->set_scheduler_name("nobody");
    auto& container = *pod.mutable_spec()->add_containers();
    container.set_name("c");
    container.set_image("i");
    c.create(pod);
    const auto number = ++addresses_;
    c.change<Pod>("default", name, [&](Pod& made) {
      made.mutable_status()->set_phase("Running");
      made.mutable_status()->set_pod_ip(fmt::format("10.0.{}.{}", number / 250, number % 250 + 1));
      auto& ready = *made.mutable_status()->add_conditions();
      ready.set_type("Ready");
      ready.set_status("True");
    });
  }

  std::mt19937_64 random_;
  int addresses_ = 0;
};

}  // namespace

TEST_CASE("despite crashes and conflicts services end with the pods that they select",
          "[endpoints][seeds]") {
  for_each_seed(60, [](std::uint64_t seed) {
    cluster_options options;
    options.plane.conflict_chance = 0.05;
    stage s{seed, options};
    runtime::fault_plan faults;
    faults.crash = 0.003;
    faults.delay = 0.1;
    s.c.simulation().faults(faults);
    for (int i = 0; i < 60; ++i) {
      s.act();
      for (int steps = static_cast<int>(seed % 7) * 5; steps > 0 && s.c.simulation().step();
           --steps) {
      }
      if (i % 10 == 9) s.c.advance(std::chrono::milliseconds{100});
    }
    s.c.simulation().faults({});
    CHECK(s.c.run_until([&] { return s.is_right(); }));
    // It must stay right: no message in transit may make it wrong.
    s.c.advance(std::chrono::seconds{30});
    CHECK(s.is_right());
  });
}

}  // namespace troupe::test
