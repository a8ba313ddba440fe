// Autoscalers as autoscaling/v1, which supports cpu utilization only; the rest is in annotations.
// What a client writes without an annotation is kept.
#include <algorithm>

#include "api/conversion/autoscaler_annotations.hpp"
#include "api/conversion/shapes.hpp"
#include "api/schema/autoscaling_hpa_v1.pb.h"
#include "api/schema/autoscaling_v2.pb.h"

namespace troupe::api {
namespace {

using home_autoscaler = autoscaling::v2::HorizontalPodAutoscaler;
using shown_autoscaler = autoscaling::v1::HorizontalPodAutoscaler;
using autoscaling::v2::MetricSpec;
using autoscaling::v2::MetricStatus;

bool is_cpu(const MetricSpec& metric) {
  return metric.type() == "Resource" && metric.resource().name() == "cpu" &&
         metric.resource().target().has_average_utilization();
}

bool is_cpu(const MetricStatus& metric) {
  return metric.type() == "Resource" && metric.resource().name() == "cpu" &&
         metric.resource().current().has_average_utilization();
}

template <class From, class Into>
void copy_numbers(const From& from, Into& into) {
  auto& target = *into.mutable_scale_target_ref();
  target.Clear();
  const auto& named = from.scale_target_ref();
  if (named.has_kind()) target.set_kind(named.kind());
  if (named.has_name()) target.set_name(named.name());
  if (named.has_api_version()) target.set_api_version(named.api_version());
  if (from.has_min_replicas())
    into.set_min_replicas(from.min_replicas());
  else
    into.clear_min_replicas();
  if (from.has_max_replicas())
    into.set_max_replicas(from.max_replicas());
  else
    into.clear_max_replicas();
}

template <class From, class Into>
void copy_state(const From& from, Into& into) {
  if (from.has_observed_generation()) into.set_observed_generation(from.observed_generation());
  if (from.has_last_scale_time()) *into.mutable_last_scale_time() = from.last_scale_time();
  if (from.has_current_replicas()) into.set_current_replicas(from.current_replicas());
  if (from.has_desired_replicas()) into.set_desired_replicas(from.desired_replicas());
}

void show(const body& home, body& shown) {
  const auto& from = static_cast<const home_autoscaler&>(home);
  auto& into = static_cast<shown_autoscaler&>(shown);
  remove_annotations(*into.mutable_metadata());
  for (auto& [name, text] : annotations_of(from))
    (*into.mutable_metadata()->mutable_annotations())[name] = text;
  if (from.has_spec()) copy_numbers(from.spec(), *into.mutable_spec());
  if (const auto* cpu = find_cpu(from))
    into.mutable_spec()->set_target_cpu_utilization_percentage(
        cpu->resource().target().average_utilization());
  if (!from.has_status()) return;
  copy_state(from.status(), *into.mutable_status());
  for (const auto& metric : from.status().current_metrics()) {
    if (!is_cpu(metric)) continue;
    into.mutable_status()->set_current_cpu_utilization_percentage(
        metric.resource().current().average_utilization());
    break;
  }
}

template <class Metrics>
auto position_of_cpu(Metrics& metrics) {
  return std::find_if(metrics.begin(), metrics.end(),
                      [](const auto& each) { return is_cpu(each); });
}

void take_target(const autoscaling::v1::HorizontalPodAutoscalerSpec& from,
                 autoscaling::v2::HorizontalPodAutoscalerSpec& into) {
  auto& metrics = *into.mutable_metrics();
  const auto found = position_of_cpu(metrics);
  if (!from.has_target_cpu_utilization_percentage()) {
    if (found != metrics.end()) metrics.erase(found);
    return;
  }
  auto* cpu = found == metrics.end() ? metrics.Add() : &*found;
  cpu->set_type("Resource");
  cpu->mutable_resource()->set_name("cpu");
  auto& target = *cpu->mutable_resource()->mutable_target();
  target.set_type("Utilization");
  target.set_average_utilization(from.target_cpu_utilization_percentage());
}

void take_status(const autoscaling::v1::HorizontalPodAutoscalerStatus& from,
                 autoscaling::v2::HorizontalPodAutoscalerStatus& status) {
  copy_state(from, status);
  if (!from.has_current_cpu_utilization_percentage()) return;
  auto& metrics = *status.mutable_current_metrics();
  const auto found = position_of_cpu(metrics);
  auto* cpu = found == metrics.end() ? metrics.Add() : &*found;
  cpu->set_type("Resource");
  cpu->mutable_resource()->set_name("cpu");
  cpu->mutable_resource()->mutable_current()->set_average_utilization(
      from.current_cpu_utilization_percentage());
}

void take(const body& shown, body& home) {
  const auto& from = static_cast<const shown_autoscaler&>(shown);
  auto& into = static_cast<home_autoscaler&>(home);
  const auto known = annotations_of(into);
  copy_numbers(from.spec(), *into.mutable_spec());
  take_target(from.spec(), *into.mutable_spec());
  if (from.has_status()) take_status(from.status(), *into.mutable_status());
  take_annotations(from.metadata(), known, into);
  remove_annotations(*into.mutable_metadata());
}

std::string same_path(std::string_view path) {
  return std::string(path);
}

}  // namespace

const kind_shape autoscaler_shape = {"autoscaling/v2", &show, &take, &same_path};

}  // namespace troupe::api
