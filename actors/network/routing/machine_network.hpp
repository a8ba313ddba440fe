// What a machine has of the network of pods, made in one go: packets are forwarded, the container
// runtime knows the node's range, and routes lead to pods of other machines. Blocks: for a worker
// thread.
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
  // Where the addresses are noted that pods have.
  std::filesystem::path addresses;
  // Is there while this machine has a network of ours.
  std::filesystem::path marker;
  // Where the container runtime looks for networks; the error says why that is not known.
  std::function<tl::expected<std::filesystem::path, std::string>()> cni_folder;
};

// The problems, none where all is well. Where another program has a network for pods, this one
// makes nothing and takes away what it made before.
std::vector<std::string> make_machine_network(const machine_network_options& options,
                                              const node_ranges& wanted);

// Takes all of it away but the forwarding of packets, on which others may rely now.
tl::expected<void, std::string> remove_machine_network(const std::filesystem::path& marker,
                                                       const std::filesystem::path& addresses);

}  // namespace troupe::actors::routing
