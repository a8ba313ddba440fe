#include "actors/controllers/autoscaling/scaling_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "actors/controllers/autoscaling/defaults.hpp"

namespace troupe::actors::autoscaling {
namespace {

using api::autoscaling::v2::HorizontalPodAutoscalerSpec;
using api::autoscaling::v2::HPAScalingRules;
using note = scaling_verdict::note;
using entries = std::vector<scaling_history::entry>;

constexpr note ready{"ReadyForNewScale", "recommended size matches current size"};
constexpr note up_stabilized{"ScaleUpStabilized",
                             "recent recommendations were lower than current one, applying the "
                             "lowest recent recommendation"};
constexpr note down_stabilized{"ScaleDownStabilized",
                               "recent recommendations were higher than current one, applying the "
                               "highest recent recommendation"};
constexpr note within{"DesiredWithinRange", "the desired count is within the acceptable range"};
constexpr note up_limit{
    "ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate"};
constexpr note down_limit{
    "ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate"};
constexpr note too_many{"TooManyReplicas",
                        "the desired replica count is more than the maximum replica count"};
constexpr note too_few{"TooFewReplicas",
                       "the desired replica count is less than the minimum replica count"};

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

std::int32_t held(double count) {
  return static_cast<std::int32_t>(std::clamp<double>(count, -static_cast<double>(most), most));
}

std::int64_t changed_since(const entries& events, runtime::time_point since) {
  std::int64_t sum = 0;
  for (const auto& each : events)
    if (each.at > since) sum += each.count;
  return sum;
}

// The limit of one policy, relative to the number at the start of its period.
std::int32_t allowed_by(const api::autoscaling::v2::HPAScalingPolicy& policy, std::int32_t current,
                        const scaling_history& history, bool up, runtime::time_point now) {
  const auto since = now - std::chrono::seconds{policy.period_seconds()};
  const auto begin = static_cast<double>(current - changed_since(history.added, since) +
                                         changed_since(history.removed, since));
  const double value = policy.value();
  if (policy.type() != "Percent") return held(up ? begin + value : begin - value);
  return held(up ? std::ceil(begin * (1 + value / 100)) : std::trunc(begin * (1 - value / 100)));
}

// The number of pods that a change in this direction must not pass.
std::int32_t rate_limit(const HPAScalingRules& rules, std::int32_t current,
                        const scaling_history& history, bool up, runtime::time_point now) {
  if (rules.select_policy() == "Disabled" || rules.policies().empty()) return current;
  // Of several policies the one with the smallest or the largest change.
  const bool take_greater = up != (rules.select_policy() == "Min");
  auto limit = allowed_by(rules.policies(0), current, history, up, now);
  for (const auto& policy : rules.policies()) {
    const auto allowed = allowed_by(policy, current, history, up, now);
    limit = take_greater ? std::max(limit, allowed) : std::min(limit, allowed);
  }
  return up ? std::max(limit, current) : std::min(limit, current);
}

void remember(scaling_history& history, std::int32_t count, runtime::duration keep,
              runtime::time_point now) {
  auto& all = history.recommendations;
  std::erase_if(all, [&](const auto& each) { return each.at < now - keep; });
  if (all.size() >= defaults::recommendations) all.erase(all.begin());
  all.push_back({now, count});
}

scaling_verdict verdict(std::int32_t stabilized, const note& able, std::int32_t replicas,
                        const note& limit) {
  return {replicas, able, replicas != stabilized, replicas != stabilized ? limit : within};
}

scaling_verdict without_behavior(const scaling_request& request, scaling_history& history,
                                 runtime::time_point now) {
  auto stabilized = request.desired;
  for (const auto& each : history.recommendations)
    if (each.at >= now - defaults::downscale_window) stabilized = std::max(stabilized, each.count);
  remember(history, request.desired, defaults::downscale_window, now);
  const auto& able = stabilized != request.desired ? down_stabilized : ready;
  const auto rate =
      std::max(held(defaults::scale_up_factor * request.current), defaults::scale_up_minimum);
  if (stabilized < request.least) return verdict(stabilized, able, request.least, too_few);
  return verdict(stabilized, able, std::min({stabilized, request.greatest, rate}),
                 request.greatest > rate ? up_limit : too_many);
}

runtime::duration window_of(const HPAScalingRules& rules, runtime::duration otherwise) {
  return rules.has_stabilization_window_seconds()
             ? std::chrono::seconds{rules.stabilization_window_seconds()}
             : otherwise;
}

scaling_verdict with_behavior(const HorizontalPodAutoscalerSpec& spec,
                              const scaling_request& request, scaling_history& history,
                              runtime::time_point now) {
  const auto& up = spec.behavior().scale_up();
  const auto& down = spec.behavior().scale_down();
  const auto up_window = window_of(up, runtime::duration{0});
  const auto down_window = window_of(down, defaults::downscale_window);
  auto lowest = request.desired, highest = request.desired;
  for (const auto& each : history.recommendations) {
    if (each.at > now - up_window) lowest = std::min(lowest, each.count);
    if (each.at > now - down_window) highest = std::max(highest, each.count);
  }
  remember(history, request.desired, std::max(up_window, down_window), now);
  const auto stabilized = std::min(std::max(request.current, lowest), highest);
  const auto& moved = request.desired >= request.current ? up_stabilized : down_stabilized;
  const auto& able = stabilized != request.desired ? moved : ready;
  if (stabilized > request.current) {
    const auto rate = rate_limit(up, request.current, history, true, now);
    return verdict(stabilized, able, std::min({stabilized, request.greatest, rate}),
                   request.greatest > rate ? up_limit : too_many);
  }
  if (stabilized < request.current) {
    const auto rate = rate_limit(down, request.current, history, false, now);
    return verdict(stabilized, able, std::max({stabilized, request.least, rate}),
                   request.least < rate ? down_limit : too_few);
  }
  return verdict(stabilized, able, stabilized, within);
}

}  // namespace

scaling_verdict limit_scaling(const HorizontalPodAutoscalerSpec& spec,
                              const scaling_request& request, scaling_history& history,
                              runtime::time_point now) {
  return spec.has_behavior() ? with_behavior(spec, request, history, now)
                             : without_behavior(request, history, now);
}

void begin_history(scaling_history& history, std::int32_t current, runtime::time_point now) {
  if (history.recommendations.empty()) history.recommendations.push_back({now, current});
}

void note_scaled(const HorizontalPodAutoscalerSpec& spec, scaling_history& history,
                 std::int32_t from, std::int32_t to, runtime::time_point now) {
  if (!spec.has_behavior() || from == to) return;
  const bool up = to > from;
  const auto& rules = up ? spec.behavior().scale_up() : spec.behavior().scale_down();
  std::int32_t longest = 0;
  for (const auto& policy : rules.policies())
    longest = std::max(longest, policy.period_seconds());
  auto& events = up ? history.added : history.removed;
  std::erase_if(events,
                [&](const auto& each) { return each.at <= now - std::chrono::seconds{longest}; });
  events.push_back({now, std::abs(to - from)});
}

}  // namespace troupe::actors::autoscaling
