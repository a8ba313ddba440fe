#include "actors/nodes/taints.hpp"

#include <algorithm>
#include <limits>

namespace troupe::actors {

using api::core::v1::Node;
using api::core::v1::PodSpec;
using api::core::v1::Taint;
using api::core::v1::Toleration;

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect().empty() && toleration.effect() != taint.effect()) return false;
  if (!toleration.key().empty() && toleration.key() != taint.key()) return false;
  const auto& op = toleration.operator_();
  if (op == "Exists") return true;
  return (op.empty() || op == "Equal") && toleration.value() == taint.value();
}

bool tolerates(const PodSpec& pod, const Taint& taint) {
  return std::any_of(pod.tolerations().begin(), pod.tolerations().end(),
                     [&](const Toleration& toleration) { return tolerates(toleration, taint); });
}

namespace {

// 68 years: clocks count nanoseconds in 64 bits.
constexpr std::int64_t longest_toleration = std::numeric_limits<std::int32_t>::max();

}  // namespace

bool has_no_execute(const Node& node) {
  const auto& taints = node.spec().taints();
  return std::any_of(taints.begin(), taints.end(),
                     [](const Taint& taint) { return taint.effect() == "NoExecute"; });
}

std::optional<std::chrono::seconds> min_toleration_time(const PodSpec& pod, const Node& node) {
  std::optional<std::chrono::seconds> least;
  for (const auto& taint : node.spec().taints()) {
    if (taint.effect() != "NoExecute") continue;
    const auto found =
        std::find_if(pod.tolerations().begin(), pod.tolerations().end(),
                     [&](const Toleration& toleration) { return tolerates(toleration, taint); });
    if (found == pod.tolerations().end()) return std::chrono::seconds{0};
    if (!found->has_toleration_seconds()) continue;
    const std::chrono::seconds tolerated{
        std::clamp<std::int64_t>(found->toleration_seconds(), 0, longest_toleration)};
    least = least ? std::min(*least, tolerated) : tolerated;
  }
  return least;
}

std::int64_t tainted_since(const Node& node) {
  std::int64_t first = 0;
  for (const auto& taint : node.spec().taints()) {
    if (taint.effect() != "NoExecute" || !taint.has_time_added()) continue;
    const auto added = taint.time_added().seconds();
    first = first == 0 ? added : std::min(first, added);
  }
  return first;
}

}  // namespace troupe::actors
