#include "actors/network/services/nft_process.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "actors/kubelet/os/run_program.hpp"
#include "actors/network/defaults.hpp"
#include "actors/network/services/address_family.hpp"

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

std::string missing_for_ipv6(std::vector<std::string> command, const std::string& interfaces) {
  if (::access(interfaces.c_str(), F_OK) != 0) return "the kernel has no IPv6";
  command.emplace_back("--check");
  const auto tried = run_nft(std::move(command), fmt::format("add table {}\n", family_v6.table),
                             network_defaults::nft_limit);
  return tried ? std::string{} : tried.error();
}

tl::expected<void, std::string> run_nft(std::vector<std::string> command, const std::string& script,
                                        std::chrono::milliseconds limit, pid_t* started) {
  command.insert(command.end(), {"-f", "-"});
  return run_program("nft", command, script, limit, started);
}

// A kernel without IPv6 has no table of that family and refuses its removal.
tl::expected<void, std::string> remove_table(const std::string& table) {
  const auto nft = find_nft();
  if (!nft) return {};
  const auto present =
      run_nft({*nft}, fmt::format("list table {}\n", table), network_defaults::nft_limit);
  if (!present) return {};
  return run_nft({*nft}, fmt::format("delete table {}\n", table), network_defaults::nft_limit);
}

}  // namespace troupe::actors::services
