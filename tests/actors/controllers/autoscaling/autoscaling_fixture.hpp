// Autoscalers and their inputs, in their shortest valid form.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>

#include "actors/controllers/autoscaling/replica_count.hpp"
#include "actors/core/condition.hpp"
#include "api/schema/autoscaling_v2.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "support/nodes.hpp"

namespace troupe::test {

constexpr std::int64_t some_time = 1'000'000'000;

// A pod that requests 100m, has been ready for an hour, and uses `cpu_milli`; below 0: not
// measured.
inline actors::autoscaling::measured_pod measured_pod_of(const std::string& name,
                                                         std::int64_t cpu_milli) {
  auto pod = std::make_unique<api::core::v1::Pod>(pod_named(name, "n1"));
  auto& requests =
      *pod->mutable_spec()->mutable_containers(0)->mutable_resources()->mutable_requests();
  requests["cpu"].set_string("100m");
  pod->mutable_status()->set_phase("Running");
  pod->mutable_status()->mutable_start_time()->set_seconds(some_time - 3600);
  const runtime::wall_time since{std::chrono::seconds{some_time - 3590}};
  actors::set_condition(*pod->mutable_status()->mutable_conditions(), {"Ready", "True"}, since);
  const auto container = pod->spec().containers(0).name();
  actors::autoscaling::measured_pod made{.object = std::make_shared<const api::object>(
                                             api::kind_of<api::core::v1::Pod>(), std::move(pod), 1),
                                         .at = some_time,
                                         .window = 15};
  if (cpu_milli >= 0)
    made.usage = {{container, static_cast<std::uint64_t>(cpu_milli) * 1'000'000, 1u << 20}};
  return made;
}

// A modified copy of the pod.
template <class F>
actors::autoscaling::measured_pod but(actors::autoscaling::measured_pod pod, F change) {
  auto changed = pod.object->copy_as<api::core::v1::Pod>();
  change(*changed);
  pod.object = std::make_shared<const api::object>(pod.object->kind(), std::move(changed), 1);
  return pod;
}

// An autoscaler of the Deployment "web": `percent` of the requested processor time, 1 to 10 pods.
inline api::autoscaling::v2::HorizontalPodAutoscaler autoscaler_of_web(int percent) {
  api::autoscaling::v2::HorizontalPodAutoscaler made;
  made.mutable_metadata()->set_name("web");
  made.mutable_metadata()->set_namespace_("default");
  auto& spec = *made.mutable_spec();
  spec.mutable_scale_target_ref()->set_kind("Deployment");
  spec.mutable_scale_target_ref()->set_name("web");
  spec.mutable_scale_target_ref()->set_api_version("apps/v1");
  spec.set_min_replicas(1);
  spec.set_max_replicas(10);
  auto& metric = *spec.add_metrics();
  metric.set_type("Resource");
  metric.mutable_resource()->set_name("cpu");
  metric.mutable_resource()->mutable_target()->set_type("Utilization");
  metric.mutable_resource()->mutable_target()->set_average_utilization(percent);
  return made;
}

}  // namespace troupe::test
