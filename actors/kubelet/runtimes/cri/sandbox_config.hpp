// The CRI config of a pod's sandbox (kubernetes: kuberuntime_sandbox.go). Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/runtimes/cri/cri.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// Labels that name the pod of a sandbox or container, as every kubelet writes them.
namespace cri_labels {
inline constexpr const char* pod_name = "io.kubernetes.pod.name";
inline constexpr const char* pod_namespace = "io.kubernetes.pod.namespace";
inline constexpr const char* pod_uid = "io.kubernetes.pod.uid";
inline constexpr const char* container_name = "io.kubernetes.container.name";
// Our own: the kubelet's root directory. Two kubelets may share a runtime, and each ends the pods
// that it does not know.
inline constexpr const char* root_dir = "io.troupe.kubelet.root-dir";
}  // namespace cri_labels

// Who makes control groups: runtime and kubelet in the file system, or systemd as its units.
enum class group_driver : std::uint8_t { cgroupfs, systemd };

struct cri_node {
  std::filesystem::path root_dir;
  cri::DNSConfig dns;  // of the node
  // Of the cluster; empty: no cluster DNS on this node.
  std::string dns_address = {};
  std::string dns_domain = {};
  std::int64_t memory_bytes = 0;
  bool recursive_read_only = false;  // the server can make such mounts
  group_driver groups = group_driver::cgroupfs;
};

// Parses name servers, search domains and options of a resolv.conf.
cri::DNSConfig parse_dns(std::string_view resolv_conf);

std::filesystem::path pod_logs(const cri_node& node, const std::string& pod_uid);

inline constexpr const char* all_pods_group = "/kubepods";
// The same with systemd's driver, whose path of a group is expanded from the name of its unit.
inline constexpr const char* all_pods_slice = "/kubepods.slice";
// The group of all pods of a class, "burstable" or "besteffort".
std::string class_group(const std::string& tier, group_driver driver);
// From the pod's QoS class: "/kubepods/burstable/podUID", or the path of
// "kubepods-burstable-podUID.slice" (kubernetes: cm/cgroup_manager_linux.go, ToSystemd).
std::string cgroup_parent(const api::core::v1::Pod& pod,
                          group_driver driver = group_driver::cgroupfs);

// The unit that a runtime ("containerd", "cri-o") makes of a container with systemd's driver.
std::string container_scope(const std::string& runtime, const std::string& id);

cri::NamespaceOption namespaces_of(const api::core::v1::Pod& pod);

cri::SecurityProfile app_armor_of(const api::core::v1::AppArmorProfile& profile);
cri::SELinuxOption se_linux_of(const api::core::v1::SELinuxOptions& options);
// Admission has rejected pods with a policy that the runtime does not know.
cri::SupplementalGroupsPolicy groups_policy(const api::core::v1::PodSecurityContext& context);

// `attempt` is the number of the pod's sandboxes so far.
cri::PodSandboxConfig sandbox_config_of(const api::core::v1::Pod& pod, std::uint32_t attempt,
                                        const cri_node& node);

// The pod's host name; with a subdomain and setHostnameAsFQDN its full name in the cluster's DNS.
// The error says why there is none.
tl::expected<std::string, std::string> host_name(const api::core::v1::Pod& pod);

// The content of /etc/hosts for a pod with its own network.
std::string hosts_file(const api::core::v1::Pod& pod, const std::vector<std::string>& ips);
// The same for a pod on the node's network: the node's file with the pod's host aliases.
std::string hosts_file_of_node(const api::core::v1::Pod& pod, const std::string& of_node);

}  // namespace troupe::actors
