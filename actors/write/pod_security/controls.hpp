// The checks of the single controls; evaluate.cpp decides when each applies. Each adds at most one
// violation.
#pragma once

#include "actors/write/pod_security/evaluate.hpp"

namespace troupe::actors::pod_security {

// -- baseline -------------------------------------------------------------------------------------

void check_app_armor_profile(const subject& pod, violations& found);
void check_capabilities(const subject& pod, violations& found);
void check_host_namespaces(const subject& pod, violations& found);
void check_host_path_volumes(const subject& pod, violations& found);
void check_host_ports(const subject& pod, violations& found);
void check_probe_hosts(const subject& pod, violations& found);
void check_privileged(const subject& pod, violations& found);
void check_proc_mount(const subject& pod, violations& found);
void check_selinux_options(const subject& pod, violations& found);
void check_selinux_options_1_31(const subject& pod, violations& found);
void check_seccomp_annotations(const subject& pod, violations& found);
void check_seccomp_profile(const subject& pod, violations& found);
void check_sysctls(const subject& pod, violations& found);
void check_sysctls_1_27(const subject& pod, violations& found);
void check_sysctls_1_29(const subject& pod, violations& found);
void check_sysctls_1_32(const subject& pod, violations& found);
void check_windows_host_process(const subject& pod, violations& found);

// -- restricted -----------------------------------------------------------------------------------
// The _1_25 versions exempt Windows pods, because Windows has none of these settings.

void check_privilege_escalation(const subject& pod, violations& found);
void check_privilege_escalation_1_25(const subject& pod, violations& found);
void check_dropped_capabilities(const subject& pod, violations& found);
void check_dropped_capabilities_1_25(const subject& pod, violations& found);
void check_volume_types(const subject& pod, violations& found);
void check_run_as_non_root(const subject& pod, violations& found);
void check_run_as_user(const subject& pod, violations& found);
void check_seccomp_profile_is_set(const subject& pod, violations& found);
void check_seccomp_profile_is_set_1_25(const subject& pod, violations& found);

}  // namespace troupe::actors::pod_security
