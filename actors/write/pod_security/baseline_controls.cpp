// The controls of baseline: they prevent known privilege escalations.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "actors/write/pod_security/controls.hpp"
#include "actors/write/pod_security/offenders.hpp"
#include "api/values/sysctl.hpp"

namespace troupe::actors::pod_security {
namespace {

using api::core::v1::SELinuxOptions;

// The default capabilities of a container, without NET_RAW.
constexpr std::array<std::string_view, 13> default_capabilities{
    "AUDIT_WRITE",      "CHOWN",   "DAC_OVERRIDE", "FOWNER",  "FSETID", "KILL",      "MKNOD",
    "NET_BIND_SERVICE", "SETFCAP", "SETGID",       "SETPCAP", "SETUID", "SYS_CHROOT"};

// How many of the safe sysctls a version knew.
constexpr std::size_t sysctls_1_0 = 5;
constexpr std::size_t sysctls_1_27 = 6;
constexpr std::size_t sysctls_1_29 = 10;
constexpr std::size_t sysctls_1_32 = 12;

void check_sysctls_of(const subject& pod, std::size_t known, violations& found) {
  std::vector<std::string> names;
  const auto end = api::safe_sysctls.begin() + known;
  for (const auto& sysctl : pod.spec.security_context().sysctls())
    if (std::find(api::safe_sysctls.begin(), end, sysctl.name()) == end)
      names.push_back(sysctl.name());
  if (!names.empty()) found.push_back({"forbidden sysctls", joined(names, ", ")});
}

void check_selinux(const subject& pod, std::initializer_list<std::string_view> allowed,
                   violations& found) {
  offenders setters;
  sorted_texts types;
  bool user = false, role = false;
  const auto is_bad = [&](const SELinuxOptions& options) {
    const bool bad_type =
        std::find(allowed.begin(), allowed.end(), options.type()) == allowed.end();
    if (bad_type) types.insert(options.type());
    user = user || !options.user().empty();
    role = role || !options.role().empty();
    return bad_type || !options.user().empty() || !options.role().empty();
  };
  setters.pod = is_bad(pod.spec.security_context().se_linux_options());
  for_each_container(pod.spec, [&](const auto& container) {
    if (is_bad(container.security_context().se_linux_options()))
      setters.containers.push_back(container.name());
  });
  if (setters.empty()) return;
  std::vector<std::string> data;
  if (!types.empty())
    data.push_back(fmt::format("{} {}", plural("type", "types", types.size()), quoted_list(types)));
  if (user) data.emplace_back("user may not be set");
  if (role) data.emplace_back("role may not be set");
  found.push_back(
      {"seLinuxOptions", fmt::format("{} set forbidden securityContext.seLinuxOptions: {}",
                                     setters.list(), joined(data, "; "))});
}

}  // namespace

void check_capabilities(const subject& pod, violations& found) {
  offenders setters;
  sorted_texts added;
  for_each_container(pod.spec, [&](const auto& container) {
    bool bad = false;
    for (const auto& name : container.security_context().capabilities().add())
      if (std::find(default_capabilities.begin(), default_capabilities.end(), name) ==
          default_capabilities.end()) {
        added.insert(name);
        bad = true;
      }
    if (bad) setters.containers.push_back(container.name());
  });
  if (setters.empty()) return;
  found.push_back({"non-default capabilities",
                   fmt::format("{} must not include {} in securityContext.capabilities.add",
                               setters.list(), quoted_list(added))});
}

void check_host_namespaces(const subject& pod, violations& found) {
  std::vector<std::string_view> names;
  if (pod.spec.host_ipc()) names.emplace_back("hostIPC=true");
  if (pod.spec.host_network()) names.emplace_back("hostNetwork=true");
  if (pod.spec.host_pid()) names.emplace_back("hostPID=true");
  if (!names.empty()) found.push_back({"host namespaces", joined(names, ", ")});
}

void check_host_path_volumes(const subject& pod, violations& found) {
  std::vector<std::string> names;
  for (const auto& volume : pod.spec.volumes())
    if (volume.volume_source().has_host_path()) names.push_back(volume.name());
  if (names.empty()) return;
  found.push_back(
      {"hostPath volumes",
       fmt::format("{} {}", plural("volume", "volumes", names.size()), quoted_list(names))});
}

void check_host_ports(const subject& pod, violations& found) {
  offenders setters;
  sorted_texts ports;
  for_each_container(pod.spec, [&](const auto& container) {
    bool bad = false;
    for (const auto& port : container.ports())
      if (port.host_port() != 0) {
        ports.insert(std::to_string(port.host_port()));
        bad = true;
      }
    if (bad) setters.containers.push_back(container.name());
  });
  if (setters.empty()) return;
  const auto count = setters.containers.size();
  found.push_back(
      {"hostPort",
       fmt::format("{} {} {} {}", setters.list(), plural("uses", "use", count),
                   plural("hostPort", "hostPorts", ports.size()), joined(ports, ", "))});
}

void check_probe_hosts(const subject& pod, violations& found) {
  sorted_texts containers, hosts;
  for_each_container(pod.spec, [&](const auto& container) {
    const auto look = [&](const auto& handler) {
      for (const auto* host : {&handler.http_get().host(), &handler.tcp_socket().host()})
        if (!host->empty()) {
          containers.insert(container.name());
          hosts.insert(*host);
        }
    };
    look(container.liveness_probe().handler());
    look(container.readiness_probe().handler());
    look(container.startup_probe().handler());
    look(container.lifecycle().post_start());
    look(container.lifecycle().pre_stop());
  });
  if (containers.empty()) return;
  const offenders setters{.containers = {containers.begin(), containers.end()}};
  found.push_back(
      {"probe or lifecycle host",
       fmt::format("{} {} {} {}", setters.list(), plural("uses", "use", containers.size()),
                   plural("probe or lifecycle host", "probe or lifecycle hosts", hosts.size()),
                   quoted_list(hosts))});
}

void check_privileged(const subject& pod, violations& found) {
  offenders setters;
  for_each_container(pod.spec, [&](const auto& container) {
    if (container.security_context().privileged()) setters.containers.push_back(container.name());
  });
  if (setters.empty()) return;
  found.push_back({"privileged", setters.list() + " must not set securityContext.privileged=true"});
}

void check_proc_mount(const subject& pod, violations& found) {
  offenders setters;
  sorted_texts types;
  for_each_container(pod.spec, [&](const auto& container) {
    const auto& security = container.security_context();
    if (!security.has_proc_mount() || security.proc_mount() == "Default") return;
    setters.containers.push_back(container.name());
    types.insert(security.proc_mount());
  });
  if (setters.empty()) return;
  found.push_back({"procMount", fmt::format("{} must not set securityContext.procMount to {}",
                                            setters.list(), quoted_list(types))});
}

void check_selinux_options(const subject& pod, violations& found) {
  check_selinux(pod, {"", "container_t", "container_init_t", "container_kvm_t"}, found);
}

void check_selinux_options_1_31(const subject& pod, violations& found) {
  check_selinux(
      pod, {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}, found);
}

void check_sysctls(const subject& pod, violations& found) {
  check_sysctls_of(pod, sysctls_1_0, found);
}

void check_sysctls_1_27(const subject& pod, violations& found) {
  check_sysctls_of(pod, sysctls_1_27, found);
}

void check_sysctls_1_29(const subject& pod, violations& found) {
  check_sysctls_of(pod, sysctls_1_29, found);
}

void check_sysctls_1_32(const subject& pod, violations& found) {
  check_sysctls_of(pod, sysctls_1_32, found);
}

void check_windows_host_process(const subject& pod, violations& found) {
  offenders setters{.pod = pod.spec.security_context().windows_options().host_process()};
  for_each_container(pod.spec, [&](const auto& container) {
    if (container.security_context().windows_options().host_process())
      setters.containers.push_back(container.name());
  });
  if (setters.empty()) return;
  found.push_back({"hostProcess", setters.list() +
                                      " must not set "
                                      "securityContext.windowsOptions.hostProcess=true"});
}

}  // namespace troupe::actors::pod_security
