#include "actors/write/pod_security/evaluate.hpp"

#include <algorithm>
#include <array>

#include "actors/write/pod_security/controls.hpp"

namespace troupe::actors::pod_security {
namespace {

constexpr std::array table{
    control{"appArmorProfile", level::baseline, 0, check_app_armor_profile},
    control{"capabilities_baseline", level::baseline, 0, check_capabilities},
    control{"hostNamespaces", level::baseline, 0, check_host_namespaces},
    control{"hostPathVolumes", level::baseline, 0, check_host_path_volumes},
    control{"hostPorts", level::baseline, 0, check_host_ports},
    control{"hostProbesAndHostLifecycle", level::baseline, 34, check_probe_hosts},
    control{"privileged", level::baseline, 0, check_privileged},
    control{"procMount", level::baseline, 0, check_proc_mount},
    control{"seLinuxOptions", level::baseline, 0, check_selinux_options},
    control{"seLinuxOptions", level::baseline, 31, check_selinux_options_1_31},
    control{"seccompProfile_baseline", level::baseline, 0, check_seccomp_annotations},
    control{"seccompProfile_baseline", level::baseline, 19, check_seccomp_profile},
    control{"sysctls", level::baseline, 0, check_sysctls},
    control{"sysctls", level::baseline, 27, check_sysctls_1_27},
    control{"sysctls", level::baseline, 29, check_sysctls_1_29},
    control{"sysctls", level::baseline, 32, check_sysctls_1_32},
    control{"windowsHostProcess", level::baseline, 0, check_windows_host_process},
    control{"allowPrivilegeEscalation", level::restricted, 8, check_privilege_escalation},
    control{"allowPrivilegeEscalation", level::restricted, 25, check_privilege_escalation_1_25},
    control{"capabilities_restricted", level::restricted, 22, check_dropped_capabilities,
            "capabilities_baseline"},
    control{"capabilities_restricted", level::restricted, 25, check_dropped_capabilities_1_25,
            "capabilities_baseline"},
    control{"restrictedVolumes", level::restricted, 0, check_volume_types, "hostPathVolumes"},
    control{"runAsNonRoot", level::restricted, 0, check_run_as_non_root},
    control{"runAsUser", level::restricted, 23, check_run_as_user},
    control{"seccompProfile_restricted", level::restricted, 19, check_seccomp_profile_is_set,
            "seccompProfile_baseline"},
    control{"seccompProfile_restricted", level::restricted, 25, check_seccomp_profile_is_set_1_25,
            "seccompProfile_baseline"},
};

constexpr int newest_version =
    std::max_element(table.begin(), table.end(), [](const control& a, const control& b) {
      return a.since < b.since;
    })->since;

// True if this is the newest form of its control at that version.
bool is_in_force(const control& each, int minor) {
  if (each.since > minor) return false;
  return std::none_of(table.begin(), table.end(), [&](const control& other) {
    return other.id == each.id && other.since > each.since && other.since <= minor;
  });
}

bool is_replaced(const control& each, level demanded, int minor) {
  if (demanded != level::restricted) return false;
  return std::any_of(table.begin(), table.end(), [&](const control& other) {
    return other.replaces == each.id && other.since <= minor;
  });
}

using checks = std::vector<decltype(control::check)>;

checks checks_of(level demanded, int minor) {
  checks result;
  for (const auto& each : table)
    if (each.level <= demanded && is_in_force(each, minor) && !is_replaced(each, demanded, minor))
      result.push_back(each.check);
  return result;
}

// For each level and version; later versions are treated as the newest one.
const checks& find_checks(const level_version& demanded) {
  static const auto all = [] {
    std::array<std::vector<checks>, 3> made;
    for (std::size_t i = 1; i < made.size(); ++i)
      for (int minor = 0; minor <= newest_version; ++minor)
        made[i].push_back(checks_of(static_cast<level>(i), minor));
    made[0].resize(newest_version + 1);
    return made;
  }();
  const auto minor = std::min(demanded.version.effective(), newest_version);
  return all[static_cast<std::size_t>(demanded.level)][static_cast<std::size_t>(minor)];
}

}  // namespace

std::span<const control> controls() {
  return table;
}

violations evaluate(const level_version& demanded, const subject& pod) {
  violations found;
  for (const auto check : find_checks(demanded))
    check(pod, found);
  return found;
}

std::string details_of(const violations& found) {
  std::string text;
  for (const auto& [reason, detail] : found)
    text += (text.empty() ? "" : ", ") + reason + " (" + detail + ")";
  return text;
}

std::string reasons_of(const violations& found) {
  std::string text;
  for (const auto& each : found)
    text += (text.empty() ? "" : ", ") + each.reason;
  return text;
}

}  // namespace troupe::actors::pod_security
