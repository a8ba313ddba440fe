#include "actors/controllers/autoscaling/autoscaler_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "actors/controllers/autoscaling/metric_proposals.hpp"
#include "actors/core/condition.hpp"
#include "api/selectors/selector.hpp"

namespace troupe::actors::autoscaling {
namespace {

using api::autoscaling::v2::HorizontalPodAutoscaler;

class planner {
 public:
  planner(const HorizontalPodAutoscaler& autoscaler, scaling_history& history, const sync_time& at)
      : autoscaler_{autoscaler}, history_{history}, at_{at} {
    plan_.status = autoscaler.status();
  }

  autoscaler_plan take() { return std::move(plan_); }

  void without_target(const std::string& problem) {
    tell("FailedGetScale", problem);
    note("AbleToScale", "False", "FailedGetScale",
         "the HPA controller was unable to get the target's current scale: " + problem);
  }

  void with_target(const target_view& target) {
    note("AbleToScale", "True", "SucceededGetScale",
         "the HPA controller was able to get the target's current scale");
    const auto& spec = autoscaler_.spec();
    const auto current = target.scale.spec().replicas();
    const auto least = spec.has_min_replicas() ? spec.min_replicas() : 1;
    begin_history(history_, current, at_.now);
    if (current == 0 && least != 0) {
      note("ScalingActive", "False", "ScalingDisabled",
           "scaling is disabled since the replica count of the target is zero");
      return conclude(current, 0, {});
    }
    if (current > spec.max_replicas())
      return conclude(current, spec.max_replicas(),
                      "Current number of replicas above Spec.MaxReplicas");
    if (current < least)
      return conclude(current, least, "Current number of replicas below Spec.MinReplicas");
    by_metrics(target, current, least);
  }

 private:
  // Evaluates every metric; the largest proposal applies. A metric that fails prevents scaling
  // down.
  void by_metrics(const target_view& target, std::int32_t current, std::int32_t least) {
    auto& status = plan_.status;
    status.clear_current_metrics();
    if (!select(target)) return failed(current);
    std::int32_t desired = 0;
    std::string name;
    std::optional<metric_failure> first;
    const auto& metrics = autoscaler_.spec().metrics();
    std::ptrdiff_t invalid = 0;
    int place = 0;
    for (const auto& metric : metrics) {
      const auto reading = target.readings.find(place++);
      auto proposed =
          propose_replicas(autoscaler_, metric,
                           {.pods = target.pods,
                            .reading = reading == target.readings.end()
                                           ? metric_values{tl::make_unexpected(std::string{})}
                                           : reading->second,
                            .current = current,
                            .existing = target.scale.status().replicas(),
                            .now_seconds = seconds_of(at_.wall_now)});
      // An empty entry represents a failed metric.
      auto& shown = *status.add_current_metrics();
      if (!proposed) {
        tell(proposed.error().reason, proposed.error().problem);
        ++invalid;
        if (!first) first = std::move(proposed.error());
        continue;
      }
      shown = std::move(proposed->status);
      if (desired != 0 && proposed->replicas <= desired) continue;
      desired = proposed->replicas;
      name = std::move(proposed->name);
    }
    if (invalid == metrics.size() || (invalid > 0 && desired < current)) {
      note("ScalingActive", "False", first->reason,
           "the HPA was unable to compute the replica count: " + first->problem);
      tell("FailedComputeMetricsReplicas",
           fmt::format("invalid metrics ({} invalid out of {}), first error is: {}", invalid,
                       metrics.size(), first->message));
      return failed(current);
    }
    note("ScalingActive", "True", "ValidMetricFound",
         "the HPA was able to successfully calculate a replica count from " + name);
    limit(current, desired, least, name);
  }

  void limit(std::int32_t current, std::int32_t desired, std::int32_t least,
             const std::string& metric) {
    const auto& spec = autoscaler_.spec();
    std::string reason;
    if (desired > current) reason = metric + " above target";
    if (desired < current) reason = "All metrics below target";
    const auto verdict =
        limit_scaling(spec, {current, desired, least, spec.max_replicas()}, history_, at_.now);
    note("AbleToScale", "True", verdict.able.reason, verdict.able.message);
    note("ScalingLimited", verdict.limited ? "True" : "False", verdict.limit.reason,
         verdict.limit.message);
    conclude(current, verdict.replicas, reason);
  }

  // Returns false if the selector of the target is invalid.
  bool select(const target_view& target) {
    const auto& text = target.scale.status().selector();
    if (text.empty()) {
      tell("SelectorRequired", "selector is required");
      note("ScalingActive", "False", "InvalidSelector",
           "the HPA target's scale is missing a selector");
      return useless("selector is required");
    }
    std::string problem;
    const char* reason = "InvalidSelector";
    if (const auto selector = api::label_selector::parse(text); !selector) {
      problem = "couldn't convert selector into a corresponding internal selector object: " +
                selector.error().message;
    } else if (target.autoscalers.size() > 1) {
      reason = "AmbiguousSelector";
      std::vector<std::string> keys;
      for (const auto& name : target.autoscalers)
        keys.push_back(fmt::format("{{{} {}}}", name, autoscaler_.metadata().namespace_()));
      problem = fmt::format("pods by selector {} are controlled by multiple HPAs: [{}]", text,
                            fmt::join(keys, " "));
    }
    if (problem.empty()) return true;
    tell(reason, problem);
    note("ScalingActive", "False", reason, problem);
    return useless(problem);
  }

  bool useless(const std::string& problem) {
    tell("FailedComputeMetricsReplicas", problem);
    return false;
  }

  void failed(std::int32_t current) { plan_.status.set_current_replicas(current); }

  void conclude(std::int32_t current, std::int32_t desired, const std::string& reason) {
    auto& status = plan_.status;
    status.set_current_replicas(current);
    status.set_desired_replicas(desired);
    if (desired == current) return;
    plan_.rescale_to = desired;
    status.mutable_last_scale_time()->set_seconds(seconds_of(at_.wall_now));
    note("AbleToScale", "True", "SucceededRescale",
         fmt::format("the HPA controller was able to update the target scale to {}", desired));
    plan_.events.push_back(
        {false, "SuccessfulRescale", fmt::format("New size: {}; reason: {}", desired, reason)});
  }

  void note(std::string_view type, std::string_view status, std::string_view reason,
            std::string_view message) {
    set_condition(*plan_.status.mutable_conditions(), {type, status, reason, message},
                  at_.wall_now);
  }
  void tell(std::string reason, std::string message) {
    plan_.events.push_back({true, std::move(reason), std::move(message)});
  }

  const HorizontalPodAutoscaler& autoscaler_;
  scaling_history& history_;
  const sync_time& at_;
  autoscaler_plan plan_;
};

}  // namespace

autoscaler_plan plan_scaling(const HorizontalPodAutoscaler& autoscaler,
                             const result<target_view>& target, scaling_history& history,
                             const sync_time& at) {
  planner planner{autoscaler, history, at};
  if (target)
    planner.with_target(*target);
  else
    planner.without_target(target.error());
  return planner.take();
}

autoscaler_plan refused(const HorizontalPodAutoscaler& autoscaler, autoscaler_plan plan,
                        const std::string& problem, const sync_time& at) {
  auto& success = plan.events.back();
  success = {true, "FailedRescale", fmt::format("{}; error: {}", success.message, problem)};
  auto& status = plan.status;
  set_condition(*status.mutable_conditions(),
                {"AbleToScale", "False", "FailedUpdateScale",
                 "the HPA controller was unable to update the target scale: " + problem},
                at.wall_now);
  status.set_desired_replicas(autoscaler.status().desired_replicas());
  if (autoscaler.status().has_last_scale_time())
    *status.mutable_last_scale_time() = autoscaler.status().last_scale_time();
  else
    status.clear_last_scale_time();
  plan.rescale_to.reset();
  return plan;
}

}  // namespace troupe::actors::autoscaling
