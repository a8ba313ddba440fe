// Translates the configuration to options of the actor system, the kubelet and a simulated minion.
// Control planes and joined machines use the same.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/node/kubelet.hpp"
#include "actors/kubelet/simulated/simulated_minion.hpp"
#include "actors/network/node/node_network.hpp"
#include "actors/nodes/pod_ranges.hpp"
#include "actors/write/pod_security/policy.hpp"
#include "config/node_config.hpp"
#include "runtime/actor_system.hpp"
#include "server/frontend/api_frontend.hpp"
#include "tools/node/node_folder.hpp"

namespace troupe::tools {

// Uses a random seed.
runtime::system_options make_system_options(const config::runtime_config& from);

server::frontend_options make_frontend_options(const config::node_config& from);

// The address of a node besides its first one, in the other family; empty: none. `own`: the
// addresses of the machine. The error names the setting.
tl::expected<std::string, std::string> second_address(const config::node_config& from,
                                                      const std::string& first,
                                                      const std::vector<std::string>& own);

// The error names the first of the allowed unsafe sysctls that cannot be allowed.
tl::expected<void, std::string> check_sysctls(const config::kubelet_config& from);

// Locks the root dir of a kubelet, making it first; it stays locked while the kubelet exists.
// Nothing is locked if pods are simulated.
tl::expected<std::optional<node_folder>, std::string> lock_root_dir(
    const config::kubelet_config& from);
// Includes a container runtime, whose threads start.
actors::kubelet_options make_kubelet_options(const config::node_config& config, std::string node);
// Whether pods run from images and have a network of their own.
bool runs_images(const actors::kubelet_options& of);
actors::simulated_node make_simulated_node(const config::kubelet_config& from);
// Null if there is no policy. The error names the mistake in the file.
tl::expected<actors::simulated::policy_ptr, std::string> make_simulation_policy(
    const config::kubelet_config& from);

// Whether network policies apply to all pods of this machine. `images`: they run from images.
bool enforces_policies(const config::node_config& from, bool images);

// The default levels of namespaces without labels, at their latest version.
actors::pod_security::configuration make_pod_security(const config::pod_security_config& from);

// Null if the configuration disables it, or wants it only if the machine allows it. `images`: pods
// run from images. `loopback_api_port`: see node_network_options.
tl::expected<std::unique_ptr<actors::node_network>, std::string> make_node_network(
    const config::node_config& from, const std::string& node, bool images,
    std::uint16_t loopback_api_port);
// The ranges from which the control plane allocates the nodes' ranges; the error names the setting.
tl::expected<std::vector<actors::pod_ranges>, std::string> make_pod_ranges(
    const config::node_config& from);

// Of the IPv6 addresses of services, empty where they have none; the error names the setting.
tl::expected<std::string, std::string> ipv6_services(const config::network_config& from);

// Where the link listens; port 0: any.
config::address link_address(const config::node_config& from);

// The ports that no load balancer gets at nodes: those of the configuration, and those at which a
// control plane and its etcd are reached; the error names the setting.
tl::expected<std::vector<std::int32_t>, std::string> reserved_ports(
    const config::node_config& from);

// What is there while this machine has something of the network of the node with that data dir.
actors::network_markers network_markers(const std::filesystem::path& data_dir);

}  // namespace troupe::tools
