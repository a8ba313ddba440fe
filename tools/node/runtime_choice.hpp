// By what the pods of a node are run: decided once, when it starts, and not against the pods that
// are here already.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "config/node_config.hpp"

namespace troupe::tools {

// How pods run whose files stand below a kubelet's root directory.
enum class pods_here { none, processes, containers };
// Reads the disk. Where there are both, the processes count: nothing else would end them.
pods_here find_pods(const std::filesystem::path& root_dir);

// Why a runtime that was named may not run: the pods of the other one would go on, and be started
// once more. Pure.
tl::expected<void, std::string> check_runtime(config::pod_runtime named, pods_here pods,
                                              const std::filesystem::path& root_dir);

struct runtime_choice {
  bool images = false;  // by the container runtime interface
  std::string log;      // says why
};
// For `auto`. `version` is what answers at `socket`, or why nothing does. Pure.
runtime_choice choose_runtime(pods_here pods, const tl::expected<std::string, std::string>& version,
                              const std::string& socket);

}  // namespace troupe::tools
