// LimitRanges: their defaults for pods and claims, and their refusals.
#include <catch2/catch.hpp>

#include "actors/write/admission/limit_rules.hpp"
#include "actors/write/admission_fixture.hpp"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_quota.pb.h"

namespace troupe::test {

using api::core::v1::LimitRange;
using api::core::v1::LimitRangeItem;
using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;
namespace admission = actors::admission;

namespace {

LimitRangeItem& limits_of(LimitRange& range, const std::string& type) {
  auto& item = *range.mutable_spec()->add_limits();
  item.set_type(type);
  return item;
}

void put(google::protobuf::Map<std::string, api::resource::Quantity>& into, const std::string& name,
         const std::string& amount) {
  into[name].set_string(amount);
}

// A pod with one container.
Pod pod_with(const std::string& cpu_request, const std::string& cpu_limit) {
  auto pod = web_pod();
  auto& resources = *pod.mutable_spec()->mutable_containers(0)->mutable_resources();
  if (!cpu_request.empty()) put(*resources.mutable_requests(), "cpu", cpu_request);
  if (!cpu_limit.empty()) put(*resources.mutable_limits(), "cpu", cpu_limit);
  return pod;
}

// A cluster with this range in namespace default.
void store_range(cluster& c, const LimitRange& range) {
  auto stored = range;
  stored.mutable_metadata()->set_name("bounds");
  stored.mutable_metadata()->set_namespace_("default");
  c.create(stored);
}

}  // namespace

TEST_CASE("A LimitRange gives a pod defaults for missing resources, and records them",
          "[admission][limits]") {
  LimitRange range;
  auto& item = limits_of(range, "Container");
  put(*item.mutable_default_(), "cpu", "200m");
  put(*item.mutable_default_(), "memory", "64Mi");
  put(*item.mutable_default_request(), "cpu", "100m");
  put(*item.mutable_default_request(), "memory", "32Mi");

  auto pod = pod_with("150m", "");
  admission::default_resources(range, pod);
  const auto& got = pod.spec().containers(0).resources();
  CHECK(got.requests().at("cpu").string() == "150m");
  CHECK(got.requests().at("memory").string() == "32Mi");
  CHECK(got.limits().at("cpu").string() == "200m");
  CHECK(got.limits().at("memory").string() == "64Mi");
  CHECK(pod.metadata().annotations().at("kubernetes.io/limit-ranger") ==
        "LimitRanger plugin set: memory request for container c; cpu, memory limit for container "
        "c");

  const auto once = pod.SerializeAsString();
  admission::default_resources(range, pod);
  CHECK(pod.SerializeAsString() == once);
}

TEST_CASE("A LimitRange reports amounts below its minimum and above its maximum",
          "[admission][limits]") {
  LimitRange range;
  auto& item = limits_of(range, "Container");
  put(*item.mutable_min(), "cpu", "50m");
  put(*item.mutable_max(), "cpu", "500m");
  put(*item.mutable_max_limit_request_ratio(), "cpu", "4");
  using texts = std::vector<std::string>;

  CHECK(admission::limit_violations(range, pod_with("100m", "400m")).empty());
  CHECK(admission::limit_violations(range, pod_with("10m", "40m")) ==
        texts{"minimum cpu usage per Container is 50m, but request is 10m"});
  CHECK(admission::limit_violations(range, pod_with("400m", "600m")) ==
        texts{"maximum cpu usage per Container is 500m, but limit is 600m"});
  CHECK(admission::limit_violations(range, pod_with("50m", "500m")) ==
        texts{"cpu max limit to request ratio per Container is 4, but provided ratio is "
              "10.000000"});
  CHECK(admission::limit_violations(range, pod_with("", "")) ==
        texts{"minimum cpu usage per Container is 50m.  No request is specified",
              "maximum cpu usage per Container is 500m.  No limit is specified",
              "cpu max limit to request ratio per Container is 4, but no request is specified or "
              "request is 0"});
}

TEST_CASE("A LimitRange of pods counts all containers, those that run first and the overhead",
          "[admission][limits]") {
  LimitRange range;
  put(*limits_of(range, "Pod").mutable_max(), "cpu", "1");
  auto pod = pod_with("300m", "300m");
  *pod.mutable_spec()->add_containers() = pod.spec().containers(0);
  CHECK(admission::limit_violations(range, pod).empty());

  put(*pod.mutable_spec()->mutable_overhead(), "cpu", "500m");
  CHECK(admission::limit_violations(range, pod) ==
        std::vector<std::string>{"maximum cpu usage per Pod is 1, but limit is 1100m"});

  pod.mutable_spec()->clear_overhead();
  auto& first = *pod.mutable_spec()->add_init_containers();
  put(*first.mutable_resources()->mutable_limits(), "cpu", "900m");
  CHECK(admission::limit_violations(range, pod).empty());
  first.set_restart_policy("Always");
  CHECK(admission::limit_violations(range, pod) ==
        std::vector<std::string>{"maximum cpu usage per Pod is 1, but limit is 1500m"});
}

TEST_CASE("LimitRanger completes pods and refuses with all that is wrong", "[admission][limits]") {
  cluster c{1, without_controllers()};
  LimitRange range;
  auto& item = limits_of(range, "Container");
  put(*item.mutable_default_(), "memory", "256Mi");
  put(*item.mutable_max(), "cpu", "1");
  put(*item.mutable_max(), "memory", "512Mi");
  store_range(c, range);
  const admission_case by{admission::make_limit_ranger(), c.store().read()};

  auto pod = pod_with("2", "2");
  REQUIRE(by.mutate(pod));
  auto& limits = *pod.mutable_spec()->mutable_containers(0)->mutable_resources()->mutable_limits();
  CHECK(limits.at("memory").string() == "256Mi");
  put(limits, "memory", "1Gi");
  const auto refused = by.validate(pod);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 403);
  CHECK(refused.error().message ==
        "pods \"web\" is forbidden: [maximum cpu usage per Container is 1, but limit is 2, maximum "
        "memory usage per Container is 512Mi, but limit is 1Gi]");

  auto elsewhere = pod_with("2", "2");
  elsewhere.mutable_metadata()->set_namespace_("kube-system");
  REQUIRE(by.mutate(elsewhere));
  CHECK(by.validate(elsewhere));
}

TEST_CASE("LimitRanger holds claims to their bounds", "[admission][limits]") {
  cluster c{1, without_controllers()};
  LimitRange range;
  auto& item = limits_of(range, "PersistentVolumeClaim");
  put(*item.mutable_min(), "storage", "1Gi");
  put(*item.mutable_max(), "storage", "5Gi");
  store_range(c, range);
  const admission_case by{admission::make_limit_ranger(), c.store().read()};

  PersistentVolumeClaim claim;
  claim.mutable_metadata()->set_name("data");
  claim.mutable_metadata()->set_namespace_("default");
  auto& storage = (*claim.mutable_spec()->mutable_resources()->mutable_requests())["storage"];
  storage.set_string("2Gi");
  CHECK(by.validate(claim));
  storage.set_string("10Gi");
  const auto refused = by.validate(claim);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "persistentvolumeclaims \"data\" is forbidden: maximum storage usage per "
        "PersistentVolumeClaim is 5Gi, but request is 10Gi");
}

}  // namespace troupe::test
