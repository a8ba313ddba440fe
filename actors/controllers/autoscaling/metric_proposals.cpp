#include "actors/controllers/autoscaling/metric_proposals.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/controllers/autoscaling/defaults.hpp"
#include "api/values/quantity.hpp"

namespace troupe::actors::autoscaling {
namespace {

using namespace api::autoscaling::v2;
using proposal = tl::expected<metric_proposal, metric_failure>;

constexpr const char* no_custom_metrics =
    "unable to fetch metrics from custom metrics API: no custom metrics API "
    "(custom.metrics.k8s.io) registered";

double tolerance_of(const HPAScalingRules& rules) {
  if (!rules.has_tolerance()) return defaults::tolerance;
  const auto given = api::quantity::parse(rules.tolerance().string());
  return given ? static_cast<double>(given->milli_value()) / 1000 : defaults::tolerance;
}

std::int64_t milli_of(const api::resource::Quantity& amount) {
  return api::quantity::parse(amount.string()).value_or(api::quantity{}).milli_value();
}

proposal fail(std::string reason, std::string problem, std::string_view of) {
  auto message = fmt::format("failed to get {}: {}", of, problem);
  return tl::make_unexpected(
      metric_failure{std::move(reason), std::move(problem), std::move(message)});
}

struct resource_source {
  const std::string& resource;
  const std::string& container;
  const MetricTarget& target;
};

// The proposal, and `current` of the status.
result<replica_proposal> propose(const HorizontalPodAutoscaler& autoscaler,
                                 const resource_source& source, std::int32_t current,
                                 const std::vector<measured_pod>& pods, std::int64_t now,
                                 MetricValueStatus& measured) {
  const auto& behavior = autoscaler.spec().behavior();
  const resource_metric metric{
      source.resource,
      source.container,
      {tolerance_of(behavior.scale_down()), tolerance_of(behavior.scale_up())}};
  const auto& target = source.target;
  if (!target.has_average_value() && !target.has_average_utilization())
    return tl::make_unexpected(
        std::string{"invalid resource metric source: neither an average utilization target nor an "
                    "average value (usage) target was set"});
  auto proposed =
      target.has_average_value()
          ? replicas_for_average(metric, milli_of(target.average_value()), current, pods, now)
          : replicas_for_utilization(metric, target.average_utilization(), current, pods, now);
  if (!proposed)
    return tl::make_unexpected(fmt::format("failed to get {} {}: {}", source.resource,
                                           target.has_average_value() ? "usage" : "utilization",
                                           proposed.error()));
  measured.mutable_average_value()->set_string(
      api::quantity::of_milli(proposed->average_milli).str());
  if (!target.has_average_value()) measured.set_average_utilization(proposed->utilization);
  return proposed;
}

std::string name_of(const resource_source& source) {
  return fmt::format(
      "{} {}resource{}", source.resource,
      !source.container.empty() && source.target.has_average_utilization() ? "container " : "",
      source.target.has_average_value() ? "" : " utilization (percentage of request)");
}

// A LabelSelector as upstream's messages show it.
std::string shown(bool given, const api::meta::v1::LabelSelector& selector) {
  if (!given) return "nil";
  std::string labels;
  const std::map<std::string, std::string> sorted(selector.match_labels().begin(),
                                                  selector.match_labels().end());
  for (const auto& [name, value] : sorted)
    labels += name + ": " + value + ",";
  return "&LabelSelector{MatchLabels:map[string]string{" + labels +
         "},MatchExpressions:[]LabelSelectorRequirement{},}";
}

}  // namespace

proposal propose_replicas(const HorizontalPodAutoscaler& autoscaler, const MetricSpec& metric,
                          std::int32_t current, const std::vector<measured_pod>& pods,
                          std::int64_t now_seconds) {
  const auto& ns = autoscaler.metadata().namespace_();
  metric_proposal made;
  made.status.set_type(metric.type());
  const auto take = [&](const resource_source& source, auto& status, const char* reason,
                        const std::string& of) -> proposal {
    status.set_name(source.resource);
    auto proposed =
        propose(autoscaler, source, current, pods, now_seconds, *status.mutable_current());
    if (!proposed) return fail(reason, std::move(proposed.error()), of);
    made.replicas = proposed->replicas;
    made.name = name_of(source);
    return std::move(made);
  };
  static const std::string all_containers;
  if (metric.type() == "Resource") {
    const auto& source = metric.resource();
    return take({source.name(), all_containers, source.target()}, *made.status.mutable_resource(),
                "FailedGetResourceMetric", source.name() + " resource metric value");
  }
  if (metric.type() == "ContainerResource") {
    const auto& source = metric.container_resource();
    auto& status = *made.status.mutable_container_resource();
    status.set_container(source.container());
    return take({source.name(), source.container(), source.target()}, status,
                "FailedGetContainerResourceMetric", source.container() + " container metric value");
  }
  if (metric.type() == "Object") {
    const auto& source = metric.object();
    // Upstream's words are in this order.
    auto problem = fmt::format("unable to get metric {}: {} on {} {}/{}", source.metric().name(),
                               source.described_object().kind(), ns,
                               source.described_object().name(), no_custom_metrics);
    if (source.target().type() == "AverageValue")
      problem = fmt::format(
          "failed to get {} object metric: unable to get metric {}: {} on {} {}/{}",
          source.metric().name(), source.metric().name(), source.described_object().kind(), ns,
          source.described_object().name(), no_custom_metrics);
    return fail("FailedGetObjectMetric", std::move(problem), "object metric value");
  }
  if (metric.type() == "Pods")
    return fail("FailedGetPodsMetric",
                fmt::format("unable to get metric {}: {}", metric.pods().metric().name(),
                            no_custom_metrics),
                "pods metric value");
  const auto& external = metric.external().metric();
  return fail(
      "FailedGetExternalMetric",
      fmt::format("unable to get external metric {}/{}/{}: unable to fetch metrics from external "
                  "metrics API: the server could not find the requested resource (get "
                  "{}.external.metrics.k8s.io)",
                  ns, external.name(), shown(external.has_selector(), external.selector()),
                  external.name()),
      external.name() + " external metric value");
}

}  // namespace troupe::actors::autoscaling
