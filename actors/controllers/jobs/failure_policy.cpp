#include "actors/controllers/jobs/failure_policy.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::actors::jobs {

namespace {

using api::batch::v1::PodFailurePolicyRule;
using api::core::v1::ContainerStatus;
using api::core::v1::Pod;

const ContainerStatus* matching_container(const PodFailurePolicyRule& rule, const Pod& pod) {
  const auto& on = rule.on_exit_codes();
  const auto fits = [&](const ContainerStatus& container) {
    if (!container.state().has_terminated()) return false;
    if (on.has_container_name() && on.container_name() != container.name()) return false;
    const auto code = container.state().terminated().exit_code();
    const bool listed =
        std::find(on.values().begin(), on.values().end(), code) != on.values().end();
    return code != 0 && listed == (on.operator_() == "In");
  };
  for (const auto* all :
       {&pod.status().container_statuses(), &pod.status().init_container_statuses()})
    for (const auto& each : *all)
      if (fits(each)) return &each;
  return nullptr;
}

std::string matching_condition(const PodFailurePolicyRule& rule, const Pod& pod) {
  for (const auto& condition : pod.status().conditions())
    for (const auto& pattern : rule.on_pod_conditions())
      if (condition.type() == pattern.type() && condition.status() == pattern.status())
        return condition.type();
  return {};
}

// The message of a matching rule; empty if the rule does not match.
std::string match(const PodFailurePolicyRule& rule, const Pod& pod, int index) {
  const auto name = pod.metadata().namespace_() + "/" + pod.metadata().name();
  if (rule.has_on_exit_codes()) {
    const auto* container = matching_container(rule, pod);
    if (container == nullptr) return {};
    return fmt::format(
        "Container {} for pod {} failed with exit code {} matching {} rule at index {}",
        container->name(), name, container->state().terminated().exit_code(), rule.action(), index);
  }
  const auto condition = matching_condition(rule, pod);
  if (condition.empty()) return {};
  return fmt::format("Pod {} has condition {} matching {} rule at index {}", name, condition,
                     rule.action(), index);
}

}  // namespace

failure_verdict evaluate_failure(const api::batch::v1::JobSpec& job, const Pod& pod) {
  const auto& rules = job.pod_failure_policy().rules();
  for (int i = 0; i < rules.size(); ++i) {
    auto message = match(rules[i], pod, i);
    if (message.empty()) continue;
    const auto& action = rules[i].action();
    if (action == "Ignore") return {failure_action::ignore};
    if (action == "FailIndex") return {failure_action::fail_index};
    if (action == "FailJob") return {failure_action::fail_job, std::move(message)};
    return {failure_action::count};
  }
  return {};
}

}  // namespace troupe::actors::jobs
