// The usage that objects are charged in quotas.
#include "actors/quota/quota_usage.hpp"

#include <catch2/catch.hpp>

#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;
using api::core::v1::ResourceQuotaSpec;
using api::core::v1::Service;
namespace quota = actors::quota;

namespace {

using texts = std::map<std::string, std::string>;

template <class T>
texts usage_of(const T& object) {
  texts result;
  for (const auto& [name, amount] : quota::usage_of(api::kind_of<T>(), object))
    result[name] = amount.str();
  return result;
}

Pod pod_of(const std::string& cpu, const std::string& memory) {
  Pod pod;
  auto& container = *pod.mutable_spec()->add_containers();
  container.set_name("c");
  auto& resources = *container.mutable_resources();
  if (!cpu.empty()) (*resources.mutable_requests())["cpu"].set_string(cpu);
  if (!memory.empty()) (*resources.mutable_limits())["memory"].set_string(memory);
  return pod;
}

ResourceQuotaSpec quota_of(std::initializer_list<const char*> bounded,
                           const char* scope = nullptr) {
  ResourceQuotaSpec spec;
  for (const auto* name : bounded)
    (*spec.mutable_hard())[name].set_string("1");
  if (scope != nullptr) spec.add_scopes(scope);
  return spec;
}

bool counts(const ResourceQuotaSpec& spec, const Pod& pod) {
  return !quota::charge(spec, api::kind_of<Pod>(), pod).empty();
}

}  // namespace

TEST_CASE("a pod counts as an object, and with its requests until it has ended", "[quota]") {
  auto pod = pod_of("100m", "64Mi");
  (*pod.mutable_spec()
        ->mutable_containers(0)
        ->mutable_resources()
        ->mutable_requests())["example.com/gpu"]
      .set_string("2");
  CHECK(usage_of(pod) == texts{{"count/pods", "1"},
                               {"pods", "1"},
                               {"cpu", "100m"},
                               {"requests.cpu", "100m"},
                               {"requests.example.com/gpu", "2"},
                               {"limits.memory", "64Mi"}});
  pod.mutable_status()->set_phase("Failed");
  CHECK(usage_of(pod) == texts{{"count/pods", "1"}});
}

TEST_CASE("a resized pod counts with the larger of its requested and its allocated resources",
          "[quota]") {
  auto pod = pod_of("100m", "64Mi");
  auto& status = *pod.mutable_status()->add_container_statuses();
  status.set_name("c");
  (*status.mutable_allocated_resources())["cpu"].set_string("300m");
  (*status.mutable_resources()->mutable_limits())["memory"].set_string("32Mi");
  CHECK(usage_of(pod).at("requests.cpu") == "300m");
  CHECK(usage_of(pod).at("limits.memory") == "64Mi");
}

TEST_CASE("services, claims and other objects count as upstream's evaluators say", "[quota]") {
  Service service;
  service.mutable_spec()->set_type("LoadBalancer");
  service.mutable_spec()->add_ports()->set_port(80);
  service.mutable_spec()->add_ports()->set_port(81);
  CHECK(usage_of(service) == texts{{"count/services", "1"},
                                   {"services", "1"},
                                   {"services.loadbalancers", "1"},
                                   {"services.nodeports", "2"}});
  service.mutable_spec()->set_allocate_load_balancer_node_ports(false);
  service.mutable_spec()->mutable_ports(1)->set_node_port(30'001);
  CHECK(usage_of(service).at("services.nodeports") == "1");
  service.mutable_spec()->set_type("ClusterIP");
  CHECK(usage_of(service) == texts{{"count/services", "1"}, {"services", "1"}});

  PersistentVolumeClaim claim;
  claim.mutable_spec()->set_storage_class_name("fast");
  (*claim.mutable_spec()->mutable_resources()->mutable_requests())["storage"].set_string("5Gi");
  CHECK(usage_of(claim) == texts{{"count/persistentvolumeclaims", "1"},
                                 {"persistentvolumeclaims", "1"},
                                 {"requests.storage", "5Gi"},
                                 {"fast.storageclass.storage.k8s.io/persistentvolumeclaims", "1"},
                                 {"fast.storageclass.storage.k8s.io/requests.storage", "5Gi"}});

  CHECK(usage_of(ConfigMap{}) == texts{{"count/configmaps", "1"}, {"configmaps", "1"}});
  CHECK(usage_of(api::apps::v1::Deployment{}) == texts{{"count/deployments.apps", "1"}});
}

TEST_CASE("a quota with scopes counts the pods of these scopes only", "[quota]") {
  const auto plain = pod_of("", "");
  auto with_deadline = plain;
  with_deadline.mutable_spec()->set_active_deadline_seconds(60);
  CHECK(counts(quota_of({"pods"}, "Terminating"), with_deadline));
  CHECK_FALSE(counts(quota_of({"pods"}, "Terminating"), plain));
  CHECK(counts(quota_of({"pods"}, "NotTerminating"), plain));
  CHECK(counts(quota_of({"pods"}, "BestEffort"), plain));
  CHECK_FALSE(counts(quota_of({"pods"}, "BestEffort"), pod_of("1", "")));
  CHECK(counts(quota_of({"pods"}, "NotBestEffort"), pod_of("", "1Gi")));

  auto chosen = quota_of({"pods"});
  auto& by = *chosen.mutable_scope_selector()->add_match_expressions();
  by.set_scope_name("PriorityClass");
  by.set_operator_("In");
  by.add_values("high");
  CHECK_FALSE(counts(chosen, plain));
  auto important = plain;
  important.mutable_spec()->set_priority_class_name("high");
  CHECK(counts(chosen, important));

  // Only pods are in a scope of pods.
  auto objects = quota_of({"count/configmaps"}, "BestEffort");
  CHECK(quota::charge(objects, api::kind_of<ConfigMap>(), ConfigMap{}).empty());
}

TEST_CASE("a pod must specify the resources that a quota limits", "[quota]") {
  auto pod = pod_of("100m", "");
  *pod.mutable_spec()->add_containers() = pod_of("", "1Gi").spec().containers(0);
  pod.mutable_spec()->mutable_containers(1)->set_name("d");
  CHECK(quota::unnamed_resources(quota_of({"pods", "cpu", "limits.memory"}), pod) ==
        "must specify cpu for: d; limits.memory for: c");
  CHECK(quota::unnamed_resources(quota_of({"pods"}), pod).empty());
  CHECK(quota::unnamed_resources(quota_of({"cpu"}, "BestEffort"), pod).empty());
}

TEST_CASE("a kind is counted only where the quota may limit it", "[quota]") {
  CHECK(quota::may_count(quota_of({"requests.cpu"}), api::kind_of<Pod>()));
  CHECK_FALSE(quota::may_count(quota_of({"requests.cpu"}), api::kind_of<ConfigMap>()));
  CHECK(quota::may_count(quota_of({"configmaps"}), api::kind_of<ConfigMap>()));
  CHECK(quota::may_count(quota_of({"count/deployments.apps"}),
                         api::kind_of<api::apps::v1::Deployment>()));
  CHECK_FALSE(quota::may_count(quota_of({"count/deployments.apps"}), api::kind_of<ConfigMap>()));
}

}  // namespace troupe::test
