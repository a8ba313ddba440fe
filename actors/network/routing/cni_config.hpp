// The CNI configuration by which a container runtime sets up pod networks: a routed device for each
// pod, with an address of the node's range. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "api/values/cidr.hpp"

namespace troupe::actors::routing {

struct cni_options {
  std::vector<api::cidr> ranges;  // not empty
  std::uint32_t mtu_bytes = 0;
  std::filesystem::path addresses;  // folder of the addresses in use
};

// A plugin list in the format of CNI 1.0.0.
std::string cni_config(const cni_options& options);

// The names in a folder that container runtimes read as CNI files, in their order.
std::vector<std::string> cni_files(std::vector<std::string> names);

}  // namespace troupe::actors::routing
