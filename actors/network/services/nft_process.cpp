#include "actors/network/services/nft_process.hpp"

#include <linux/capability.h>
#include <unistd.h>

#include <fstream>

#include "actors/kubelet/os/run_program.hpp"

namespace troupe::actors::services {

std::optional<std::string> find_nft() {
  for (const auto* path : {"/usr/sbin/nft", "/sbin/nft", "/usr/local/sbin/nft", "/usr/bin/nft"})
    if (::access(path, X_OK) == 0) return path;
  return std::nullopt;
}

bool may_change_network() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("CapEff:"))
      return (std::stoull(line.substr(7), nullptr, 16) >> CAP_NET_ADMIN & 1) != 0;
  return false;
}

tl::expected<void, std::string> run_nft(std::vector<std::string> command, const std::string& script,
                                        std::chrono::milliseconds limit, pid_t* started) {
  command.insert(command.end(), {"-f", "-"});
  return run_program("nft", command, script, limit, started);
}

}  // namespace troupe::actors::services
