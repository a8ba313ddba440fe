// The settings that a member of etcd is started with, and DATA-DIR/member.json, which stores them.
// Pure except for the file.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "server/http/endpoint.hpp"
#include "tools/etcd/defaults.hpp"

namespace troupe::tools {

struct member_settings {
  std::string name;
  // The addresses where it listens for clients, for peers, and for joining machines.
  server::endpoint client, peer, join;
  // The host by which other machines call it.
  std::string host;
  // "a=https://10.0.0.1:2380,b=…": the members that it knows at its first start.
  std::string initial_cluster;
  // It was added to running members.
  bool is_added = false;
  // Since it served, its data are part of the acknowledged state: without them it must not vote.
  bool has_served = false;
  // The last known client URLs of all members.
  std::vector<std::string> endpoints;
};

// Not stored: may differ from start to start.
struct member_tuning {
  std::string binary{etcd_defaults::binary};
  std::chrono::milliseconds heartbeat = etcd_defaults::heartbeat;
  std::chrono::milliseconds election = etcd_defaults::election;
  std::uint64_t quota_bytes = etcd_defaults::quota_bytes;
};

std::string client_url(const member_settings& of);
std::string peer_url(const member_settings& of);
std::string join_address(const member_settings& of);

// The command line of etcd.
std::vector<std::string> etcd_arguments(const std::filesystem::path& data_dir,
                                        const member_settings& settings,
                                        const member_tuning& tuning);
// The flags of `troupe node` for this etcd.
std::string node_flags(const std::filesystem::path& data_dir, const member_settings& settings);

std::string write_member_settings(const member_settings& settings);
tl::expected<member_settings, std::string> parse_member_settings(std::string_view text);

// The error names the file. Nullopt: there is no file.
tl::expected<std::optional<member_settings>, std::string> load_member_settings(
    const std::filesystem::path& data_dir);
tl::expected<void, std::string> save_member_settings(const std::filesystem::path& data_dir,
                                                     const member_settings& settings);

// The folder of etcd's own data.
inline std::filesystem::path member_data(const std::filesystem::path& data_dir) {
  return data_dir / "member-data";
}
inline std::filesystem::path member_pki(const std::filesystem::path& data_dir) {
  return data_dir / "pki";
}

}  // namespace troupe::tools
