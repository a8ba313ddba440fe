// The sandbox of a pod as the runtime is asked for it (kubernetes: kuberuntime_sandbox.go). Pure
// but for `read_node_dns`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/runtimes/cri/cri.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// Labels that tell what belongs to which pod, as every kubelet writes them.
namespace cri_labels {
inline constexpr const char* pod_name = "io.kubernetes.pod.name";
inline constexpr const char* pod_namespace = "io.kubernetes.pod.namespace";
inline constexpr const char* pod_uid = "io.kubernetes.pod.uid";
inline constexpr const char* container_name = "io.kubernetes.container.name";
// Ours: the root directory of the kubelet. Two kubelets may share a runtime, and each ends pods
// that it does not know.
inline constexpr const char* root_dir = "io.troupe.kubelet.root-dir";
}  // namespace cri_labels

struct cri_node {
  std::filesystem::path root_dir;
  cri::DNSConfig dns;  // of the node
  // Of the cluster; empty: its names are not served here.
  std::string dns_address = {};
  std::string dns_domain = {};
  std::int64_t memory_bytes = 0;
};

// The name servers, search domains and options of a resolv.conf.
cri::DNSConfig parse_dns(std::string_view resolv_conf);
// Reads /etc/resolv.conf: not for an actor's thread.
cri::DNSConfig read_node_dns();

std::filesystem::path pod_logs(const cri_node& node, const std::string& pod_uid);

inline constexpr const char* all_pods_group = "/kubepods";
// "/kubepods/burstable/podUID", by the pod's QoS class.
std::string cgroup_parent(const api::core::v1::Pod& pod);

cri::NamespaceOption namespaces_of(const api::core::v1::Pod& pod);

// `attempt` counts the sandboxes of the pod.
cri::PodSandboxConfig sandbox_config_of(const api::core::v1::Pod& pod, std::uint32_t attempt,
                                        const cri_node& node);

// The name that a pod knows itself by: with a subdomain, and with setHostnameAsFQDN, that by which
// the cluster's names have it. The error is why it has none.
tl::expected<std::string, std::string> host_name(const api::core::v1::Pod& pod);

// The file /etc/hosts of a pod with a network of its own.
std::string hosts_file(const api::core::v1::Pod& pod, const std::string& ip);
// That of one on the node's network: the node's own, and the pod's aliases.
std::string hosts_file_of_node(const api::core::v1::Pod& pod, const std::string& of_node);

}  // namespace troupe::actors
