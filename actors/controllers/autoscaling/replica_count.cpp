#include "actors/controllers/autoscaling/replica_count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "actors/controllers/autoscaling/defaults.hpp"
#include "actors/core/condition.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/values/quantity.hpp"

namespace troupe::actors::autoscaling {
namespace {

using api::core::v1::Pod;
using amounts = std::map<std::string, std::int64_t>;  // thousandths, by pod

struct sample {
  std::int64_t milli, at, window;
};
using samples = std::map<std::string, sample>;  // by pod

std::optional<std::int64_t> milli_of(const container_usage& usage, const std::string& resource) {
  if (resource == "cpu") return static_cast<std::int64_t>((usage.cpu_nano + 999'999) / 1'000'000);
  if (resource == "memory") return static_cast<std::int64_t>(usage.memory_bytes) * 1000;
  return std::nullopt;
}

// The samples in the form of metrics.k8s.io; pods without the resource are left out.
result<samples> samples_of(const resource_metric& metric, const std::vector<measured_pod>& pods) {
  samples found;
  bool measured = false;
  for (const auto& pod : pods) {
    if (pod.usage.empty()) continue;
    measured = true;
    std::optional<std::int64_t> sum;
    bool there = metric.container.empty();
    for (const auto& each : pod.usage) {
      if (!metric.container.empty() && each.container != metric.container) continue;
      there = true;
      if (const auto milli = milli_of(each, metric.resource)) sum = sum.value_or(0) + *milli;
    }
    const auto& meta = pod.object->meta();
    if (!there)
      return tl::make_unexpected(fmt::format(
          "unable to get metrics for resource {}: failed to get container metrics: container {} "
          "not present in metrics for pod {}/{}",
          metric.resource, metric.container, meta.namespace_(), meta.name()));
    if (sum) found[meta.name()] = {*sum, pod.at, pod.window};
  }
  if (measured) return found;
  return tl::make_unexpected(fmt::format(
      "unable to get metrics for resource {}: no metrics returned from resource metrics API",
      metric.resource));
}

// True if the CPU usage is not meaningful yet: the pod is starting, or was never ready.
bool is_unready(const Pod& pod, const sample& usage, std::int64_t now) {
  const auto* ready = find_condition(pod.status().conditions(), "Ready");
  if (ready == nullptr || !pod.status().has_start_time()) return true;
  const auto started = pod.status().start_time().seconds();
  const auto since = ready->last_transition_time().seconds();
  const bool is_false = ready->status() == "False";
  if (started + defaults::cpu_initialization_seconds > now)
    return is_false || usage.at < since + usage.window;
  return is_false && started + defaults::initial_readiness_seconds > since;
}

struct pod_groups {
  std::size_t ready = 0;
  std::set<std::string> unready, missing;
};

// Removes the samples of pods that do not count.
pod_groups group(const resource_metric& metric, const std::vector<measured_pod>& pods,
                 samples& usage, std::int64_t now) {
  pod_groups groups;
  for (const auto& each : pods) {
    const auto& pod = each.object->as<Pod>();
    const auto& name = pod.metadata().name();
    const auto found = usage.find(name);
    if (pod.metadata().has_deletion_timestamp() || pod.status().phase() == "Failed") {
      usage.erase(name);
    } else if (pod.status().phase() == "Pending" || pod.status().phase().empty()) {
      groups.unready.insert(name);
      usage.erase(name);
    } else if (found == usage.end()) {
      groups.missing.insert(name);
    } else if (metric.resource == "cpu" && is_unready(pod, found->second, now)) {
      groups.unready.insert(name);
      usage.erase(found);
    } else {
      ++groups.ready;
    }
  }
  return groups;
}

result<amounts> requests_of(const resource_metric& metric, const std::vector<measured_pod>& pods) {
  amounts requests;
  for (const auto& each : pods) {
    const auto& pod = each.object->as<Pod>();
    std::int64_t sum = 0;
    std::string lacking;
    const auto add = [&](const api::core::v1::Container& container) {
      if (!metric.container.empty() && container.name() != metric.container) return;
      const auto& all = container.resources().requests();
      const auto found = all.find(metric.resource);
      if (found == all.end()) {
        if (lacking.empty()) lacking = container.name();
        return;
      }
      sum += api::quantity::parse(found->second.string()).value_or(api::quantity{}).milli_value();
    };
    for (const auto& container : pod.spec().containers())
      add(container);
    for (const auto& container : pod.spec().init_containers())
      if (container.restart_policy() == "Always") add(container);
    if (!lacking.empty())
      return tl::make_unexpected(fmt::format("missing request for {} in container {} of Pod {}",
                                             metric.resource, lacking, pod.metadata().name()));
    requests[pod.metadata().name()] = sum;
  }
  return requests;
}

// The target of a metric: calculates the ratio of usage to target, and the usage to assume on
// scale-down for a pod without metrics.
class target {
 public:
  virtual ~target() = default;
  virtual result<double> measure(const samples& usage, replica_proposal& into) const = 0;
  virtual std::int64_t assumed(const std::string& pod) const = 0;
};

class utilization_target final : public target {
 public:
  utilization_target(std::int32_t percent, amounts requests)
      : percent_{percent}, requests_{std::move(requests)} {}

  result<double> measure(const samples& usage, replica_proposal& into) const override {
    std::int64_t used = 0, requested = 0, count = 0;
    for (const auto& [pod, each] : usage) {
      const auto request = requests_.find(pod);
      if (request == requests_.end()) continue;
      used += each.milli;
      requested += request->second;
      ++count;
    }
    if (requested == 0)
      return tl::make_unexpected(std::string{"no metrics returned matched known pods"});
    const auto percent = static_cast<double>(used) * 100 / static_cast<double>(requested);
    into.utilization = static_cast<std::int32_t>(
        std::min<double>(percent, std::numeric_limits<std::int32_t>::max()));
    into.average_milli = used / count;
    return static_cast<double>(into.utilization) / percent_;
  }
  // All its requests, or the target if that is more.
  std::int64_t assumed(const std::string& pod) const override {
    const auto found = requests_.find(pod);
    return found == requests_.end() ? 0 : found->second * std::max(percent_, 100) / 100;
  }

 private:
  const std::int32_t percent_;
  const amounts requests_;
};

class average_target final : public target {
 public:
  explicit average_target(std::int64_t milli) : milli_{milli} {}

  result<double> measure(const samples& usage, replica_proposal& into) const override {
    std::int64_t used = 0;
    for (const auto& [pod, each] : usage)
      used += each.milli;
    into.average_milli = used / std::max<std::int64_t>(std::ssize(usage), 1);
    return static_cast<double>(into.average_milli) / static_cast<double>(milli_);
  }
  std::int64_t assumed(const std::string&) const override { return milli_; }

 private:
  const std::int64_t milli_;
};

std::int32_t times(double ratio, std::size_t pods) {
  const auto count = std::ceil(ratio * static_cast<double>(pods));
  return static_cast<std::int32_t>(
      std::min<double>(count, std::numeric_limits<std::int32_t>::max()));
}

result<replica_proposal> propose(const target& target, const tolerances& tolerance,
                                 std::int32_t current, const pod_groups& groups, samples usage) {
  replica_proposal proposal{.replicas = current};
  const auto ratio = target.measure(usage, proposal);
  if (!ratio) return tl::make_unexpected(ratio.error());
  const bool up_with_unready = !groups.unready.empty() && *ratio > 1;
  if (!up_with_unready && groups.missing.empty()) {
    if (!tolerance.allow(*ratio)) proposal.replicas = times(*ratio, groups.ready);
    return proposal;
  }
  // Pods without metrics dampen the change.
  for (const auto& pod : groups.missing)
    if (*ratio != 1) usage[pod].milli = *ratio < 1 ? target.assumed(pod) : 0;
  if (up_with_unready)
    for (const auto& pod : groups.unready)
      usage[pod].milli = 0;
  replica_proposal damped;
  const auto damped_ratio = target.measure(usage, damped);
  if (!damped_ratio) return tl::make_unexpected(damped_ratio.error());
  if (tolerance.allow(*damped_ratio) || (*ratio < 1 && *damped_ratio > 1) ||
      (*ratio > 1 && *damped_ratio < 1))
    return proposal;
  const auto replicas = times(*damped_ratio, usage.size());
  const bool turned =
      (*damped_ratio < 1 && replicas > current) || (*damped_ratio > 1 && replicas < current);
  if (!turned) proposal.replicas = replicas;
  return proposal;
}

struct grouped_usage {
  samples usage;
  pod_groups groups;
};

result<grouped_usage> grouped(const resource_metric& metric, result<samples> usage,
                              const std::vector<measured_pod>& pods, std::int64_t now) {
  if (!usage) return tl::make_unexpected(usage.error());
  if (pods.empty())
    return tl::make_unexpected(
        std::string{"no pods returned by selector while calculating replica count"});
  auto groups = group(metric, pods, *usage, now);
  if (usage->empty())
    return tl::make_unexpected(
        std::string{"did not receive metrics for targeted pods (pods might be unready)"});
  return grouped_usage{std::move(*usage), std::move(groups)};
}

}  // namespace

result<replica_proposal> replicas_for_utilization(const resource_metric& metric,
                                                  std::int32_t target_percent, std::int32_t current,
                                                  const std::vector<measured_pod>& pods,
                                                  std::int64_t now_seconds) {
  auto known = grouped(metric, samples_of(metric, pods), pods, now_seconds);
  if (!known) return tl::make_unexpected(known.error());
  auto requests = requests_of(metric, pods);
  if (!requests) return tl::make_unexpected(requests.error());
  return propose(utilization_target{target_percent, std::move(*requests)}, metric.tolerance,
                 current, known->groups, std::move(known->usage));
}

result<replica_proposal> replicas_for_average(const resource_metric& metric,
                                              std::int64_t target_milli, std::int32_t current,
                                              const std::vector<measured_pod>& pods,
                                              std::int64_t now_seconds) {
  auto known = grouped(metric, samples_of(metric, pods), pods, now_seconds);
  if (!known) return tl::make_unexpected(known.error());
  return propose(average_target{target_milli}, metric.tolerance, current, known->groups,
                 std::move(known->usage));
}

result<replica_proposal> replicas_for_pod_values(const std::vector<metric_value>& values,
                                                 const tolerances& tolerance,
                                                 std::int64_t target_milli, std::int32_t current,
                                                 const std::vector<measured_pod>& pods,
                                                 std::int64_t now_seconds) {
  samples usage;
  for (const auto& each : values)
    usage[each.object] = {each.milli, each.at, each.window};
  auto known = grouped({.resource = {}, .container = {}, .tolerance = tolerance}, std::move(usage),
                       pods, now_seconds);
  if (!known) return tl::make_unexpected(known.error());
  return propose(average_target{target_milli}, tolerance, current, known->groups,
                 std::move(known->usage));
}

}  // namespace troupe::actors::autoscaling
