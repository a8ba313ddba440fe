#include "actors/kubelet/runtimes/cri/sandbox_config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/kubelet/pods/pod_dns.hpp"
#include "actors/kubelet/runtimes/cri/defaults.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/values/sysctl.hpp"

namespace troupe::actors {

using api::core::v1::Container;
using api::core::v1::Pod;

namespace {

// kubernetes: at most 63 characters, without a final "-" or ".".
std::string short_name(const Pod& pod) {
  auto name = pod.spec().hostname().empty() ? pod.metadata().name() : pod.spec().hostname();
  if (name.size() > cri_defaults::host_name_bytes) name.resize(cri_defaults::host_name_bytes);
  while (!name.empty() && (name.back() == '-' || name.back() == '.'))
    name.pop_back();
  return name;
}

// Returns an empty name if the pod has no subdomain.
std::string full_name(const Pod& pod) {
  if (pod.spec().subdomain().empty()) return {};
  return fmt::format("{}.{}.{}.svc.{}", short_name(pod), pod.spec().subdomain(),
                     pod.metadata().namespace_(), cri_defaults::cluster_domain);
}

std::string alias_lines(const Pod& pod) {
  if (pod.spec().host_aliases_size() == 0) return {};
  std::string text = "\n# Entries added by HostAliases.\n";
  for (const auto& alias : pod.spec().host_aliases())
    text += fmt::format("{}\t{}\n", alias.ip(), fmt::join(alias.hostnames(), "\t"));
  return text;
}

bool is_privileged(const Pod& pod) {
  const auto privileged = [](const Container& each) {
    return each.security_context().privileged();
  };
  const auto& init = pod.spec().init_containers();
  const auto& all = pod.spec().containers();
  return std::any_of(init.begin(), init.end(), privileged) ||
         std::any_of(all.begin(), all.end(), privileged);
}

void add_ports(const Container& container, cri::PodSandboxConfig& config) {
  for (const auto& port : container.ports()) {
    if (port.host_port() == 0) continue;
    auto& mapping = *config.add_port_mappings();
    mapping.set_protocol(port.protocol() == "UDP"    ? cri::UDP
                         : port.protocol() == "SCTP" ? cri::SCTP
                                                     : cri::TCP);
    mapping.set_container_port(port.container_port());
    mapping.set_host_port(port.host_port());
    mapping.set_host_ip(port.host_ip());
  }
}

// Those that the scheduler counts: of containers and sidecars.
void add_ports(const Pod& pod, cri::PodSandboxConfig& config) {
  if (pod.spec().host_network()) return;
  for (const auto& container : pod.spec().containers())
    add_ports(container, config);
  for (const auto& container : pod.spec().init_containers())
    if (container.restart_policy() == "Always") add_ports(container, config);
}

resolver_config plain(const cri::DNSConfig& dns) {
  return {.servers = {dns.servers().begin(), dns.servers().end()},
          .searches = {dns.searches().begin(), dns.searches().end()},
          .options = {dns.options().begin(), dns.options().end()}};
}

cri::DNSConfig dns_config(const resolver_config& from) {
  cri::DNSConfig dns;
  dns.mutable_servers()->Assign(from.servers.begin(), from.servers.end());
  dns.mutable_searches()->Assign(from.searches.begin(), from.searches.end());
  dns.mutable_options()->Assign(from.options.begin(), from.options.end());
  return dns;
}

void set_security(const Pod& pod, cri::LinuxPodSandboxConfig& linux) {
  const auto& of_pod = pod.spec().security_context();
  auto& security = *linux.mutable_security_context();
  *security.mutable_namespace_options() = namespaces_of(pod);
  security.set_privileged(is_privileged(pod));
  if (of_pod.has_se_linux_options())
    *security.mutable_selinux_options() = se_linux_of(of_pod.se_linux_options());
  security.mutable_seccomp()->set_profile_type(cri::SecurityProfile::RuntimeDefault);
  if (of_pod.has_run_as_user()) security.mutable_run_as_user()->set_value(of_pod.run_as_user());
  if (of_pod.has_run_as_group()) security.mutable_run_as_group()->set_value(of_pod.run_as_group());
  if (of_pod.has_fs_group()) security.add_supplemental_groups(of_pod.fs_group());
  for (const auto group : of_pod.supplemental_groups())
    security.add_supplemental_groups(group);
  for (const auto& sysctl : of_pod.sysctls())
    (*linux.mutable_sysctls())[api::sysctl_with_dots(sysctl.name())] = sysctl.value();
  if (of_pod.has_app_armor_profile())
    *security.mutable_apparmor() = app_armor_of(of_pod.app_armor_profile());
  security.set_supplemental_groups_policy(groups_policy(of_pod));
}

}  // namespace

tl::expected<std::string, std::string> host_name(const Pod& pod) {
  const auto full = full_name(pod);
  if (full.empty() || !pod.spec().set_hostname_as_fqdn()) return short_name(pod);
  // The kernel's limit (kubernetes: kubelet_pods.go, truncatePodHostnameIfNeeded).
  if (full.size() > cri_defaults::kernel_host_name_bytes)
    return tl::make_unexpected(
        fmt::format("failed to construct FQDN from pod hostname and cluster domain, FQDN {} is too "
                    "long ({} characters is the max, {} characters requested)",
                    full, cri_defaults::kernel_host_name_bytes, full.size()));
  return full;
}

cri::DNSConfig parse_dns(std::string_view resolv_conf) {
  return dns_config(parse_resolv_conf(resolv_conf));
}

std::filesystem::path pod_logs(const cri_node& node, const std::string& pod_uid) {
  return pod_path(node.root_dir, pod_uid) / "logs";
}

std::string class_group(const std::string& tier, group_driver driver) {
  return driver == group_driver::cgroupfs
             ? fmt::format("{}/{}", all_pods_group, tier)
             : fmt::format("{}/kubepods-{}.slice", all_pods_slice, tier);
}

std::string cgroup_parent(const Pod& pod, group_driver driver) {
  const auto& qos = pod.status().qos_class();
  const std::string tier = qos == "Guaranteed"   ? ""
                           : qos == "BestEffort" ? "besteffort"
                                                 : "burstable";
  auto uid = pod.metadata().uid();
  if (driver == group_driver::cgroupfs)
    return fmt::format("{}/pod{}", tier.empty() ? all_pods_group : class_group(tier, driver), uid);
  // In a unit's name "-" separates the levels.
  std::replace(uid.begin(), uid.end(), '-', '_');
  if (tier.empty()) return fmt::format("{}/kubepods-pod{}.slice", all_pods_slice, uid);
  return fmt::format("{}/kubepods-{}-pod{}.slice", class_group(tier, driver), tier, uid);
}

std::string container_scope(const std::string& runtime, const std::string& id) {
  return fmt::format("{}-{}.scope", runtime == "cri-o" ? "crio" : "cri-containerd", id);
}

cri::NamespaceOption namespaces_of(const Pod& pod) {
  cri::NamespaceOption out;
  const auto& spec = pod.spec();
  out.set_network(spec.host_network() ? cri::NODE : cri::POD);
  out.set_ipc(spec.host_ipc() ? cri::NODE : cri::POD);
  out.set_pid(spec.host_pid()                  ? cri::NODE
              : spec.share_process_namespace() ? cri::POD
                                               : cri::CONTAINER);
  return out;
}

cri::SecurityProfile app_armor_of(const api::core::v1::AppArmorProfile& profile) {
  cri::SecurityProfile out;
  out.set_profile_type(profile.type() == "RuntimeDefault" ? cri::SecurityProfile::RuntimeDefault
                       : profile.type() == "Localhost"    ? cri::SecurityProfile::Localhost
                                                          : cri::SecurityProfile::Unconfined);
  out.set_localhost_ref(profile.localhost_profile());
  return out;
}

cri::SELinuxOption se_linux_of(const api::core::v1::SELinuxOptions& options) {
  cri::SELinuxOption out;
  out.set_user(options.user());
  out.set_role(options.role());
  out.set_type(options.type());
  out.set_level(options.level());
  return out;
}

cri::SupplementalGroupsPolicy groups_policy(const api::core::v1::PodSecurityContext& context) {
  return context.supplemental_groups_policy() == "Strict" ? cri::Strict : cri::Merge;
}

cri::PodSandboxConfig sandbox_config_of(const Pod& pod, std::uint32_t attempt,
                                        const cri_node& node) {
  const auto& meta = pod.metadata();
  cri::PodSandboxConfig config;
  config.mutable_metadata()->set_name(meta.name());
  config.mutable_metadata()->set_namespace_(meta.namespace_());
  config.mutable_metadata()->set_uid(meta.uid());
  config.mutable_metadata()->set_attempt(attempt);
  if (!pod.spec().host_network()) config.set_hostname(host_name(pod).value_or(""));
  config.set_log_directory(pod_logs(node, meta.uid()));
  *config.mutable_dns_config() =
      dns_config(resolver_of(pod, plain(node.dns), {node.dns_address, node.dns_domain}));
  add_ports(pod, config);
  auto& labels = *config.mutable_labels();
  labels.insert(meta.labels().begin(), meta.labels().end());
  labels[cri_labels::pod_name] = meta.name();
  labels[cri_labels::pod_namespace] = meta.namespace_();
  labels[cri_labels::pod_uid] = meta.uid();
  labels[cri_labels::root_dir] = node.root_dir.string();
  config.mutable_annotations()->insert(meta.annotations().begin(), meta.annotations().end());
  config.mutable_linux()->set_cgroup_parent(cgroup_parent(pod, node.groups));
  set_security(pod, *config.mutable_linux());
  return config;
}

std::string hosts_file(const Pod& pod, const std::vector<std::string>& ips) {
  std::string text =
      "# Kubernetes-managed hosts file.\n"
      "127.0.0.1\tlocalhost\n"
      "::1\tlocalhost ip6-localhost ip6-loopback\n"
      "fe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\n"
      "fe00::2\tip6-allrouters\n";
  const auto full = full_name(pod);
  for (const auto& ip : ips)
    text += fmt::format("{}\t{}{}{}\n", ip, full, full.empty() ? "" : "\t", short_name(pod));
  return text + alias_lines(pod);
}

std::string hosts_file_of_node(const Pod& pod, const std::string& of_node) {
  return "# Kubernetes-managed hosts file (host network).\n" + of_node + alias_lines(pod);
}

}  // namespace troupe::actors
