// Names of kernel parameters that a pod may set. Pure.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace troupe::api {

// kubernetes: pkg/kubelet/sysctl/safe_sysctls.go. They affect the pod's own namespaces only. In the
// order in which versions added them.
inline constexpr std::array<std::string_view, 12> safe_sysctls{
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem"};

// "net/ipv4/conf/eth0.1/forwarding" becomes "net.ipv4.conf.eth0/1.forwarding"; a name whose first
// separator is a dot stays (kubernetes: ConvertSysctlVariableToDotsSeparator).
std::string sysctl_with_dots(std::string name);

// The namespace of the kernel to which the parameter belongs; `none`: the whole machine.
enum class sysctl_namespace { none, ipc, net };
sysctl_namespace namespace_of_sysctl(std::string_view name);

}  // namespace troupe::api
