#include "actors/controllers/autoscaling/metric_proposals.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <utility>

#include "actors/controllers/autoscaling/defaults.hpp"
#include "actors/controllers/autoscaling/value_count.hpp"
#include "api/values/quantity.hpp"

namespace troupe::actors::autoscaling {
namespace {

using namespace api::autoscaling::v2;
using proposal = tl::expected<metric_proposal, metric_failure>;

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

tolerances tolerances_of(const HorizontalPodAutoscaler& autoscaler) {
  const auto& behavior = autoscaler.spec().behavior();
  return {tolerance_of(behavior.scale_down()), tolerance_of(behavior.scale_up())};
}

// Returns the proposal, and fills `current` in the status.
result<replica_proposal> propose(const HorizontalPodAutoscaler& autoscaler,
                                 const resource_source& source, std::int32_t current,
                                 const std::vector<measured_pod>& pods, std::int64_t now,
                                 MetricValueStatus& measured) {
  const resource_metric metric{source.resource, source.container, tolerances_of(autoscaler)};
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

// Formats a LabelSelector as upstream's messages do.
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

metric_failure failure(const char* reason, std::string problem, std::string message) {
  return {reason, std::move(problem), std::move(message)};
}

// Go's "%+v" of an external metric's identifier.
std::string shown(const MetricIdentifier& metric) {
  return fmt::format("external metric {}({})", metric.name(),
                     shown(metric.has_selector(), metric.selector()));
}

// The error of an API group for a metric, or the message that the API is not registered.
std::string problem_of(const metric_values& reading, std::string_view api,
                       const std::string& otherwise) {
  return fmt::format("unable to fetch metrics from {} metrics API: {}", api,
                     reading.error().empty() ? otherwise : reading.error());
}

std::string custom_problem(const metric_values& reading) {
  return problem_of(reading, "custom", "no custom metrics API (custom.metrics.k8s.io) registered");
}

std::int64_t sum_of(const std::vector<metric_value>& values) {
  std::int64_t sum = 0;
  for (const auto& each : values)
    if (__builtin_add_overflow(sum, each.milli, &sum))
      return std::numeric_limits<std::int64_t>::max();
  return sum;
}

void set_amount(api::resource::Quantity& into, std::int64_t milli) {
  into.set_string(api::quantity::of_milli(milli).str());
}

// Proposes by one value for all pods, and fills `current` in the status.
result<std::int32_t> propose_by_value(const HorizontalPodAutoscaler& autoscaler,
                                      const MetricTarget& target, std::int64_t milli,
                                      const metric_view& seen, MetricValueStatus& measured) {
  const auto tolerance = tolerances_of(autoscaler);
  if (target.has_average_value()) {
    const auto proposed =
        replicas_for_share({milli, milli_of(target.average_value()), tolerance}, seen.existing);
    set_amount(*measured.mutable_average_value(), proposed.average_milli);
    return proposed.replicas;
  }
  set_amount(*measured.mutable_value(), milli);
  return replicas_for_value({milli, milli_of(target.value()), tolerance}, seen.current, seen.pods);
}

proposal propose_by_pods(const HorizontalPodAutoscaler& autoscaler, const PodsMetricSource& source,
                         const metric_view& seen) {
  static constexpr const char* reason = "FailedGetPodsMetric";
  if (!seen.reading)
    return fail(reason,
                fmt::format("unable to get metric {}: {}", source.metric().name(),
                            custom_problem(seen.reading)),
                "pods metric value");
  const auto proposed = replicas_for_pod_values(*seen.reading, tolerances_of(autoscaler),
                                                milli_of(source.target().average_value()),
                                                seen.current, seen.pods, seen.now_seconds);
  if (!proposed) return fail(reason, proposed.error(), "pods metric value");
  metric_proposal made{.replicas = proposed->replicas,
                       .name = "pods metric " + source.metric().name(),
                       .status = {}};
  auto& status = *made.status.mutable_pods();
  *status.mutable_metric() = source.metric();
  set_amount(*status.mutable_current()->mutable_average_value(), proposed->average_milli);
  return made;
}

proposal propose_by_object(const HorizontalPodAutoscaler& autoscaler,
                           const ObjectMetricSource& source, const metric_view& seen) {
  const auto& object = source.described_object();
  const auto refused = [&](std::string problem) -> proposal {
    // The text of the wrapped error is upstream's.
    auto message =
        source.target().has_average_value()
            ? fmt::format("failed to get {} object metric: {}", source.metric().name(), problem)
            : problem;
    return tl::make_unexpected(failure("FailedGetObjectMetric", std::move(problem),
                                       "failed to get object metric value: " + message));
  };
  if (!source.target().has_average_value() && !source.target().has_value())
    return refused(
        "invalid object metric source: neither a value target nor an average value target was set");
  // This order of words is upstream's.
  if (!seen.reading)
    return refused(fmt::format("unable to get metric {}: {} on {} {}/{}", source.metric().name(),
                               object.kind(), autoscaler.metadata().namespace_(), object.name(),
                               custom_problem(seen.reading)));
  metric_proposal made;
  auto& status = *made.status.mutable_object();
  *status.mutable_metric() = source.metric();
  *status.mutable_described_object() = object;
  const auto proposed = propose_by_value(autoscaler, source.target(), sum_of(*seen.reading), seen,
                                         *status.mutable_current());
  if (!proposed) return refused(proposed.error());
  made.replicas = *proposed;
  made.name = source.target().has_average_value()
                  ? shown(source.metric())
                  : fmt::format("{} metric {}", object.kind(), source.metric().name());
  return made;
}

proposal propose_by_external(const HorizontalPodAutoscaler& autoscaler,
                             const ExternalMetricSource& source, const metric_view& seen) {
  const auto& metric = source.metric();
  const auto refused = [&](std::string problem) -> proposal {
    const bool average = source.target().has_average_value();
    auto message =
        average ? fmt::format("failed to get {} external metric: {}", metric.name(), problem)
                : fmt::format("failed to get external metric {}: {}", metric.name(), problem);
    return tl::make_unexpected(
        failure("FailedGetExternalMetric", std::move(problem),
                fmt::format("failed to get {} external metric value: {}", metric.name(), message)));
  };
  if (!source.target().has_average_value() && !source.target().has_value())
    return refused(
        "invalid external metric source: neither a value target nor an average value target was "
        "set");
  if (!seen.reading)
    return refused(fmt::format(
        "unable to get external metric {}/{}/{}: {}", autoscaler.metadata().namespace_(),
        metric.name(), shown(metric.has_selector(), metric.selector()),
        problem_of(seen.reading, "external",
                   fmt::format("the server could not find the requested resource (get "
                               "{}.external.metrics.k8s.io)",
                               metric.name()))));
  metric_proposal made;
  auto& status = *made.status.mutable_external();
  *status.mutable_metric() = metric;
  const auto proposed = propose_by_value(autoscaler, source.target(), sum_of(*seen.reading), seen,
                                         *status.mutable_current());
  if (!proposed) return refused(proposed.error());
  made.replicas = *proposed;
  made.name = shown(metric);
  return made;
}

proposal propose_by_resource(const HorizontalPodAutoscaler& autoscaler, const MetricSpec& metric,
                             const metric_view& seen) {
  metric_proposal made;
  const auto take = [&](const resource_source& source, auto& status, const char* reason,
                        const std::string& of) -> proposal {
    status.set_name(source.resource);
    auto proposed = propose(autoscaler, source, seen.current, seen.pods, seen.now_seconds,
                            *status.mutable_current());
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
  const auto& source = metric.container_resource();
  auto& status = *made.status.mutable_container_resource();
  status.set_container(source.container());
  return take({source.name(), source.container(), source.target()}, status,
              "FailedGetContainerResourceMetric", source.container() + " container metric value");
}

}  // namespace

proposal propose_replicas(const HorizontalPodAutoscaler& autoscaler, const MetricSpec& metric,
                          const metric_view& seen) {
  const auto proposed = [&] {
    if (metric.type() == "Object") return propose_by_object(autoscaler, metric.object(), seen);
    if (metric.type() == "Pods") return propose_by_pods(autoscaler, metric.pods(), seen);
    if (metric.type() == "External")
      return propose_by_external(autoscaler, metric.external(), seen);
    return propose_by_resource(autoscaler, metric, seen);
  };
  auto made = proposed();
  if (made) made->status.set_type(metric.type());
  return made;
}

}  // namespace troupe::actors::autoscaling
