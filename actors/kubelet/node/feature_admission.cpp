#include "actors/kubelet/node/feature_admission.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/values/sysctl.hpp"

namespace troupe::actors {

using api::core::v1::Pod;

namespace {

bool is_allowed(const std::string& sysctl, const std::vector<std::string>& unsafe) {
  const auto& safe = api::safe_sysctls;
  if (std::find(safe.begin(), safe.end(), sysctl) != safe.end()) return true;
  return std::any_of(unsafe.begin(), unsafe.end(), [&](const std::string& each) {
    auto pattern = api::sysctl_with_dots(each);
    if (!pattern.ends_with('*')) return sysctl == pattern;
    pattern.pop_back();
    return sysctl.starts_with(pattern);
  });
}

// In the namespace of the node a parameter would be changed for the whole machine.
std::string sysctl_problem(const std::string& name, const Pod& pod, const node_features& node) {
  const auto sysctl = api::sysctl_with_dots(name);
  if (!is_allowed(sysctl, node.unsafe_sysctls))
    return fmt::format("\"{}\" not allowlisted", sysctl);
  const auto space = api::namespace_of_sysctl(sysctl);
  const bool shared =
      space == api::sysctl_namespace::net ? pod.spec().host_network() : pod.spec().host_ipc();
  if (!shared) return {};
  return fmt::format("\"{}\" not allowed with host {} enabled", sysctl,
                     space == api::sysctl_namespace::net ? "Net" : "IPC");
}

template <class Context>
bool wants_app_armor(const Context& context) {
  return context.has_app_armor_profile() && context.app_armor_profile().type() != "Unconfined";
}

bool wants_app_armor(const Pod& pod) {
  const auto& spec = pod.spec();
  const auto any = [](const auto& containers) {
    return std::any_of(containers.begin(), containers.end(),
                       [](const auto& each) { return wants_app_armor(each.security_context()); });
  };
  return wants_app_armor(spec.security_context()) || any(spec.init_containers()) ||
         any(spec.containers());
}

}  // namespace

std::string unsafe_sysctl_problem(const std::string& pattern) {
  const auto star = pattern.find('*');
  const bool name_or_prefix = star == pattern.npos || star + 1 == pattern.size();
  if (name_or_prefix &&
      api::namespace_of_sysctl(api::sysctl_with_dots(pattern)) != api::sysctl_namespace::none)
    return {};
  return fmt::format(
      "\"{}\" is no kernel parameter of a pod's own namespaces, as kernel.msgmax or net.*",
      pattern);
}

std::optional<pod_failure> feature_rejection(const Pod& pod, const node_features& node) {
  const auto& spec = pod.spec();
  for (const auto& sysctl : spec.security_context().sysctls())
    if (const auto problem = sysctl_problem(sysctl.name(), pod, node); !problem.empty())
      return pod_failure{"SysctlForbidden", "forbidden sysctl: " + problem};
  if (const auto& os = spec.os().name(); !os.empty() && os != "linux")
    return pod_failure{"PodOSNotSupported",
                       "Failed to admit pod as the OS field doesn't match node OS"};
  if (spec.security_context().supplemental_groups_policy() == "Strict" && !node.strict_groups)
    return pod_failure{"SupplementalGroupsPolicyNotSupported",
                       "SupplementalGroupsPolicy=Strict is not supported in this node"};
  if (wants_app_armor(pod) && !node.app_armor)
    return pod_failure{"AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host"};
  return std::nullopt;
}

}  // namespace troupe::actors
