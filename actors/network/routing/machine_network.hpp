// Configures a machine for the pod network in one run: IP forwarding, the container runtime's
// CNI file with the node's range, the rules of the tunnel's port, and routes to pods of other
// machines. Blocks: for a worker thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/network/routing/node_ranges.hpp"
#include "actors/network/routing/route_plan.hpp"

namespace troupe::actors::routing {

struct machine_network_options {
  route_mode routes = route_mode::automatic;
  // The ranges of all pods of the cluster.
  std::vector<api::cidr> cluster = {};
  // Folder that records the addresses of pods.
  std::filesystem::path addresses;
  // A file that exists while this machine has a network of ours.
  std::filesystem::path marker;
  // Finds the folder of the container runtime's CNI files; the error says why it is unknown.
  std::function<tl::expected<std::filesystem::path, std::string>()> cni_folder;
};

struct made_network {
  std::vector<std::string> problems;  // empty: success
  bool is_ours = true;                // false: another program provides the pod network
};

// Lets the machine forward packets of IPv4: its services lead to pods of other machines, too.
// Returns the error; empty: success.
std::string forward_ipv4();

// If another program provides the pod network, it configures nothing and removes its former
// configuration.
made_network make_machine_network(const machine_network_options& options, node_ranges wanted);

// Removes all of it except IP forwarding, on which other programs may rely now.
tl::expected<void, std::string> remove_machine_network(const std::filesystem::path& marker,
                                                       const std::filesystem::path& addresses);

}  // namespace troupe::actors::routing
