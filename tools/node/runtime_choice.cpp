#include "tools/node/runtime_choice.hpp"

#include <fmt/format.h>

namespace troupe::tools {

namespace fs = std::filesystem;
using config::pod_runtime;

pods_here find_pods(const fs::path& root_dir) {
  auto found = pods_here::none;
  std::error_code problem;
  for (const auto& pod : fs::directory_iterator{root_dir / "pods", problem}) {
    // The folder layouts of the runtimes (container_files.hpp, pod_files_of_cri.hpp).
    if (fs::exists(pod.path() / "containers", problem)) return pods_here::processes;
    if (fs::exists(pod.path() / "messages", problem)) found = pods_here::containers;
  }
  return found;
}

tl::expected<void, std::string> check_runtime(pod_runtime named, pods_here pods,
                                              const fs::path& root_dir) {
  const auto refuse = [&](const char* others, const char* flag) {
    return tl::make_unexpected(
        fmt::format("root dir {}: has pods that run as {}; start the node with --runtime {}, drain "
                    "it (kubectl drain), then start it with the other one",
                    root_dir.string(), others, flag));
  };
  if (named == pod_runtime::cri && pods == pods_here::processes)
    return refuse("processes of this machine", "process");
  if (named == pod_runtime::process && pods == pods_here::containers)
    return refuse("containers of a container runtime", "cri");
  return {};
}

runtime_choice choose_runtime(pods_here pods, const tl::expected<std::string, std::string>& version,
                              const std::string& socket) {
  if (pods == pods_here::processes)
    return {false,
            fmt::format(
                "containers run as processes of this machine, as the existing pods do{}",
                version ? fmt::format("; {} at {} is used once the node is drained and restarted",
                                      *version, socket)
                        : std::string{})};
  if (version) return {true, fmt::format("containers are run by {} at {}", *version, socket)};
  if (pods == pods_here::containers)
    return {true,
            fmt::format(
                "containers are run by a container runtime, as the existing pods are, although {}",
                version.error())};
  return {false,
          fmt::format("containers run as processes of this machine, since {}", version.error())};
}

}  // namespace troupe::tools
