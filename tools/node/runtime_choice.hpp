// Decides once at start which runtime runs the pods of a node, in agreement with the pods that
// already exist here.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "config/node_config.hpp"

namespace troupe::tools {

// How the pods run whose files exist below a kubelet's root directory.
enum class pods_here { none, processes, containers };
// Reads the disk. If there are both, returns processes: no other runtime would end them.
pods_here find_pods(const std::filesystem::path& root_dir);

// The error says why a configured runtime must not run: pods of the other one would go on, and
// would be started a second time. Pure.
tl::expected<void, std::string> check_runtime(config::pod_runtime named, pods_here pods,
                                              const std::filesystem::path& root_dir);

struct runtime_choice {
  bool images = false;  // by the container runtime interface
  std::string log;      // the reason
};
// For `auto`. `version` is the answer at `socket`, or the reason why there is none. Pure.
runtime_choice choose_runtime(pods_here pods, const tl::expected<std::string, std::string>& version,
                              const std::string& socket);

}  // namespace troupe::tools
