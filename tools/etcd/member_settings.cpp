#include "tools/etcd/member_settings.hpp"

#include <fmt/format.h>

#include "server/credentials/private_file.hpp"
#include "server/join/flat_json.hpp"
#include "tools/join/comma_list.hpp"
#include "tools/join/server_trust.hpp"

namespace troupe::tools {

namespace fs = std::filesystem;

namespace {

constexpr const char* file_name = "member.json";

std::string url(const std::string& host, std::uint16_t port) {
  return "https://" + server::to_string({host, port});
}

std::string listen_url(const server::endpoint& at) {
  return "https://" + server::to_string(at);
}

tl::expected<server::endpoint, std::string> endpoint_of(const server::flat_json& fields,
                                                        std::string_view name) {
  const auto parsed = parse_host_and_port(server::member(fields, name));
  if (!parsed) return tl::make_unexpected(fmt::format("{}: {}", name, parsed.error()));
  return server::endpoint{parsed->host, static_cast<std::uint16_t>(parsed->port)};
}

}  // namespace

std::string client_url(const member_settings& of) {
  return url(of.host, of.client.port);
}

std::string peer_url(const member_settings& of) {
  return url(of.host, of.peer.port);
}

std::string join_address(const member_settings& of) {
  return server::to_string(server::endpoint{of.host, of.join.port});
}

// Uses only flags that 3.4, 3.5 and 3.6 have. The leading control plane compacts. `--pre-vote`
// keeps a member that was cut off from unseating the leader when it returns.
std::vector<std::string> etcd_arguments(const fs::path& data_dir, const member_settings& settings,
                                        const member_tuning& tuning) {
  const auto pki = member_pki(data_dir);
  const auto authority = (pki / "ca.crt").string(), certificate = (pki / "member.crt").string(),
             key = (pki / "member.key").string();
  return {tuning.binary,
          "--name=" + settings.name,
          "--data-dir=" + member_data(data_dir).string(),
          "--listen-client-urls=" + listen_url(settings.client),
          "--advertise-client-urls=" + client_url(settings),
          "--listen-peer-urls=" + listen_url(settings.peer),
          "--initial-advertise-peer-urls=" + peer_url(settings),
          "--initial-cluster=" + settings.initial_cluster,
          std::string{"--initial-cluster-state="} + (settings.is_added ? "existing" : "new"),
          "--initial-cluster-token=troupe",
          "--client-cert-auth",
          "--trusted-ca-file=" + authority,
          "--cert-file=" + certificate,
          "--key-file=" + key,
          "--peer-client-cert-auth",
          "--peer-trusted-ca-file=" + authority,
          "--peer-cert-file=" + certificate,
          "--peer-key-file=" + key,
          "--pre-vote",
          fmt::format("--heartbeat-interval={}", tuning.heartbeat.count()),
          fmt::format("--election-timeout={}", tuning.election.count()),
          fmt::format("--snapshot-count={}", etcd_defaults::snapshot_count),
          fmt::format("--quota-backend-bytes={}", tuning.quota_bytes),
          fmt::format("--max-request-bytes={}", etcd_defaults::request_bytes),
          "--auto-compaction-retention=0",
          "--logger=zap",
          "--log-outputs=stderr",
          "--log-level=warn"};
}

std::string node_flags(const fs::path& data_dir, const member_settings& settings) {
  const auto pki = fs::absolute(member_pki(data_dir)).lexically_normal();
  return fmt::format("--store etcd --etcd-endpoints {} --etcd-ca {} --etcd-cert {} --etcd-key {}",
                     fmt::join(settings.endpoints, ","), (pki / "ca.crt").string(),
                     (pki / "client.crt").string(), (pki / "client.key").string());
}

std::string write_member_settings(const member_settings& settings) {
  return server::write_flat_json(
      {{"name", settings.name},
       {"client", server::to_string(settings.client)},
       {"peer", server::to_string(settings.peer)},
       {"join", server::to_string(settings.join)},
       {"host", settings.host},
       {"initialCluster", settings.initial_cluster},
       {"isAdded", settings.is_added ? "true" : "false"},
       {"hasServed", settings.has_served ? "true" : "false"},
       {"endpoints", fmt::format("{}", fmt::join(settings.endpoints, ","))}});
}

tl::expected<member_settings, std::string> parse_member_settings(std::string_view text) {
  const auto fields = server::read_flat_json(text);
  if (!fields) return tl::make_unexpected(fields.error());
  member_settings read;
  for (const auto& [into, name] :
       {std::pair{&read.client, "client"}, {&read.peer, "peer"}, {&read.join, "join"}}) {
    const auto found = endpoint_of(*fields, name);
    if (!found) return tl::make_unexpected(found.error());
    *into = *found;
  }
  for (const auto& [into, name] : {std::pair{&read.name, "name"},
                                   {&read.host, "host"},
                                   {&read.initial_cluster, "initialCluster"}}) {
    *into = server::member(*fields, name);
    if (into->empty()) return tl::make_unexpected(fmt::format("{} is missing", name));
  }
  read.is_added = server::member(*fields, "isAdded") == "true";
  read.has_served = server::member(*fields, "hasServed") == "true";
  read.endpoints = split_commas(server::member(*fields, "endpoints"));
  if (read.endpoints.empty()) read.endpoints = {client_url(read)};
  return read;
}

tl::expected<std::optional<member_settings>, std::string> load_member_settings(
    const fs::path& data_dir) {
  const auto file = data_dir / file_name;
  const auto text = server::read_private_file(file);
  if (!text) return tl::make_unexpected(text.error());
  if (!*text) return std::nullopt;
  auto read = parse_member_settings(**text);
  if (!read) return tl::make_unexpected(file.string() + ": " + read.error());
  return *read;
}

tl::expected<void, std::string> save_member_settings(const fs::path& data_dir,
                                                     const member_settings& settings) {
  return server::write_private_file(data_dir / file_name, write_member_settings(settings));
}

}  // namespace troupe::tools
