#include "tools/etcd/member_join.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "server/credentials/addresses.hpp"
#include "server/credentials/private_file.hpp"
#include "server/credentials/sealed_text.hpp"
#include "server/join/flat_json.hpp"
#include "tools/etcd/join_server.hpp"
#include "tools/etcd/join_tokens.hpp"
#include "tools/etcd/member_keys.hpp"
#include "tools/etcd/membership.hpp"
#include "tools/join/bootstrap_client.hpp"
#include "tools/join/enrolment.hpp"
#include "tools/join/local_address.hpp"

namespace troupe::tools {

namespace fs = std::filesystem;

namespace {

template <class T>
using expected = tl::expected<T, std::string>;

constexpr server_words member_words{"troupe etcd --listen-join",
                                    "the port for machines that join (by default 2382)",
                                    "troupe etcd token", "--host"};

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 253 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
         });
}

expected<member_bundle> fetch(const member_join_line& line) {
  const auto deadline = std::chrono::steady_clock::now() + join_defaults::total_limit;
  const auto contact =
      bootstrap_client::make(line.address, line.authority_hash, deadline, member_words);
  if (!contact) return tl::make_unexpected(contact.error());
  const auto answer = contact->post(std::string{member_join_path}, line.token, "{}");
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status == 401)
    return tl::make_unexpected(line.address +
                               ": the token is unknown or expired; make a new one with `troupe "
                               "etcd token` on that machine");
  if (answer->status != 200) return tl::make_unexpected(line.address + ": " + refusal(*answer));
  const auto fields = server::read_flat_json(answer->body);
  if (!fields) return tl::make_unexpected(line.address + ": " + fields.error());
  auto bundle = open_bundle(server::member(*fields, "bundle"), line.certificate_key, line.token,
                            line.authority_hash);
  if (!bundle) return tl::make_unexpected(line.address + ": " + bundle.error());
  return bundle;
}

expected<void> write_authority(const fs::path& data_dir, const member_bundle& bundle) {
  const auto pki = member_pki(data_dir);
  if (auto made = server::make_private_directory(pki); !made) return made;
  if (auto done = server::write_private_file(pki / "ca.key", bundle.authority.private_key); !done)
    return done;
  return server::write_private_file(pki / "ca.crt", bundle.authority.certificate);
}

// The id of the learner, existing or new.
persistence::expected<std::uint64_t> take_place(persistence::etcd_members& members,
                                                const join_plan& plan,
                                                const std::string& peer_url) {
  if (plan.first == join_plan::step::take_over) return plan.id;
  if (plan.first == join_plan::step::replace) {
    spdlog::warn("etcd: the data of this member are lost: it is removed and added again");
    const auto removed = change_members<void>([&] { return members.remove(plan.id); });
    if (!removed) return persistence::fail(removed.error());
  }
  return change_members<std::uint64_t>([&] { return members.add_learner(peer_url); });
}

expected<member_settings> become_member(const fs::path& data_dir, member_settings settings,
                                        const std::vector<std::string>& endpoints) {
  const auto keys = member_keys::open(data_dir, settings.host);
  if (!keys) return tl::make_unexpected(keys.error());
  const auto members = open_etcd_members(etcd_client(data_dir, endpoints));
  if (!members) return tl::make_unexpected(members.error().message);
  const auto seen = read_members(**members);
  if (!seen) return tl::make_unexpected(seen.error().message);
  const auto plan = plan_join(*seen, settings.name, peer_url(settings));
  if (!plan) return tl::make_unexpected(plan.error());
  if (auto placed = take_place(**members, *plan, peer_url(settings)); !placed)
    return tl::make_unexpected(placed.error().message);
  const auto now = (*members)->list();
  if (!now) return tl::make_unexpected(now.error().message);
  settings.initial_cluster = initial_cluster(*now, settings.name, peer_url(settings));
  settings.is_added = true;
  settings.has_served = false;
  settings.endpoints = client_urls(*now);
  if (auto saved = save_member_settings(data_dir, settings); !saved)
    return tl::make_unexpected(saved.error());
  return settings;
}

}  // namespace

expected<member_settings> complete_settings(const member_options& options) {
  auto settings = options.settings;
  if (!is_name(settings.name))
    return tl::make_unexpected(fmt::format(
        "--name: expected letters, digits, '-', '.' and '_'; found \"{}\"", settings.name));
  if (settings.client.host.empty()) {
    const auto to = parse_host_and_port(options.line.address);
    settings.client.host =
        to ? local_address_towards(to->host, static_cast<std::uint16_t>(to->port)) : "127.0.0.1";
  }
  for (const auto& [at, port] : {std::pair{&settings.client, etcd_defaults::client_port},
                                 {&settings.peer, etcd_defaults::peer_port},
                                 {&settings.join, etcd_defaults::join_port}}) {
    if (at->host.empty()) at->host = settings.client.host;
    if (at->port == 0) at->port = port;
  }
  if (settings.host.empty()) settings.host = server::reachable_address(settings.client.host);
  settings.initial_cluster = settings.name + "=" + peer_url(settings);
  settings.endpoints = {client_url(settings)};
  return settings;
}

expected<member_settings> join_members(const member_options& options) {
  const auto& line = options.line;
  if (auto good = check_join_line({line.address, line.token, line.authority_hash}); !good)
    return tl::make_unexpected(good.error());
  if (!server::is_sealing_key(line.certificate_key))
    return tl::make_unexpected(
        std::string{"--certificate-key: expected 64 hexadecimal digits, as `troupe etcd token` "
                    "prints them"});
  auto settings = complete_settings(options);
  if (!settings) return settings;
  const auto bundle = fetch(line);
  if (!bundle) return tl::make_unexpected(bundle.error());
  auto joined = [&]() -> expected<member_settings> {
    if (auto written = write_authority(options.data_dir, *bundle); !written)
      return tl::make_unexpected(written.error());
    return become_member(options.data_dir, std::move(*settings), bundle->endpoints);
  }();
  if (joined) return joined;
  std::error_code ignored;
  fs::remove_all(member_pki(options.data_dir), ignored);
  return joined;
}

expected<member_settings> join_again(const fs::path& data_dir, member_settings settings) {
  auto others = settings.endpoints;
  std::erase(others, client_url(settings));
  if (others.empty())
    return tl::make_unexpected(fmt::format(
        "{} is gone, and this was the only member: restore a backup (docs/several-control-planes.md"
        "), or remove {} to begin a new etcd, which is empty",
        member_data(data_dir).string(), data_dir.string()));
  return become_member(data_dir, std::move(settings), others);
}

}  // namespace troupe::tools
