#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "actors/tokens/bootstrap_token.hpp"
#include "api/codec/codec.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "config/defaults.hpp"
#include "server/credentials/kubeconfig.hpp"
#include "server/credentials/sealed_text.hpp"
#include "server/credentials/x509.hpp"
#include "server/join/control_plane_bundle.hpp"
#include "server/join/flat_json.hpp"
#include "tools/command_line/access_flags.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/wait_flags.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/credential_commands.hpp"
#include "tools/join/comma_list.hpp"
#include "tools/join/defaults.hpp"
#include "tools/join/random_letters.hpp"

namespace troupe::tools {

namespace {

using api::core::v1::Secret;
using api::core::v1::SecretList;
using result = tl::expected<void, std::string>;

// As kubeadm token create: one day.
constexpr std::chrono::hours token_lifetime{24};
// As kubeadm init --upload-certs: sealed keys are kept for two hours.
constexpr std::chrono::hours control_plane_lifetime{2};

struct token_flags {
  explicit token_flags(CLI::App& command)
      : access{command, std::string{config::defaults::data_dir}} {}

  access_flags access;
  wait::duration lifetime{token_lifetime};
  CLI::Option* lifetime_given = nullptr;
  bool control_plane = false;
  std::string description;
  std::string id;
};

const api::kind_info& secrets() {
  return api::kind_of<Secret>();
}

// The address to join by, and the hash of the authority.
tl::expected<server::flat_json, std::string> cluster_facts(cluster_client& to) {
  const auto answer = to.call({.path = "/troupe/v1/cluster", .body = {}});
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status != 200) return tl::make_unexpected(refusal(*answer));
  return server::read_flat_json(answer->body);
}

std::string without_scheme(std::string url) {
  const auto scheme = url.find("://");
  if (scheme != url.npos) url.erase(0, scheme + 3);
  while (url.ends_with('/'))
    url.pop_back();
  return url;
}

tl::expected<actors::bootstrap_token, std::string> new_token(const token_flags& given) {
  actors::bootstrap_token token;
  token.id = random_letters(token_id_letters);
  token.secret = random_letters(token_secret_letters);
  if (token.id.empty() || token.secret.empty())
    return tl::make_unexpected(std::string{"no random numbers for the token"});
  token.authenticates = true;
  token.extra_groups = {"system:bootstrappers:troupe"};
  token.description = given.description;
  auto lifetime = given.lifetime;
  if (given.control_plane && given.lifetime_given->count() == 0) lifetime = control_plane_lifetime;
  if (lifetime.count() > 0) token.expires = std::chrono::system_clock::now() + lifetime;
  return token;
}

// Returns the uid of the new object.
tl::expected<std::string, std::string> create_secret(cluster_client& to, const Secret& secret) {
  const auto answer = to.call({.method = "POST",
                               .path = path_of(secrets(), actors::bootstrap_token_namespace),
                               .body = api::encode_json(secret, "v1", "Secret")});
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status != 201) return tl::make_unexpected(refusal(*answer));
  const auto made = get_object(to, secrets(), std::string{actors::bootstrap_token_namespace},
                               secret.metadata().name());
  if (!made) return tl::make_unexpected(made.error());
  return *made ? api::meta_of(**made).uid() : std::string{};
}

// The data that another control plane needs: the keys in DATA-DIR/pki and the access to etcd.
tl::expected<server::control_plane_bundle, std::string> bundle_of(const token_flags& given,
                                                                  const server::flat_json& facts) {
  const auto endpoints = server::member(facts, "etcdEndpoints");
  if (endpoints.empty())
    return tl::make_unexpected(
        std::string{"this cluster stores its state at its only control plane: a second one needs a "
                    "shared etcd; start with --store etcd (docs/several-control-planes.md)"});
  auto data_dir = given.access.local_dir();
  if (data_dir.empty()) data_dir = config::defaults::data_dir;
  auto pki = server::read_shared_pki(data_dir / "pki");
  if (!pki) return tl::make_unexpected(pki.error());
  if (server::x509::key_hash(pki->at("ca.crt")) != server::member(facts, "authorityHash"))
    return tl::make_unexpected(
        fmt::format("{} is not the authority of the cluster at {}: run this on one of its control "
                    "planes, with its --data-dir",
                    (data_dir / "pki" / "ca.crt").string(), server::member(facts, "apiAddress")));
  server::control_plane_bundle bundle{.pki = std::move(*pki),
                                      .etcd_endpoints = split_commas(endpoints),
                                      .etcd_authority = {},
                                      .etcd_certificate = {},
                                      .etcd_key = {}};
  for (const auto& [into, name] : {std::pair{&bundle.etcd_authority, "etcdAuthority"},
                                   {&bundle.etcd_certificate, "etcdCertificate"},
                                   {&bundle.etcd_key, "etcdKey"}}) {
    const auto file = server::member(facts, name);
    if (file.empty()) continue;
    auto text = server::read_file(file);
    if (!text) return tl::make_unexpected(text.error());
    *into = std::move(*text);
  }
  return bundle;
}

// Deletes the token if its bundle cannot be stored.
tl::expected<std::string, std::string> leave_bundle(cluster_client& to, const std::string& token_id,
                                                    const std::string& token_uid,
                                                    const server::control_plane_bundle& bundle) {
  auto key = server::make_sealing_key();
  if (!key) return key;
  const auto sealed = server::seal(server::write_bundle(bundle), *key, token_id);
  if (!sealed) return sealed;
  const auto made = create_secret(to, *server::write_bundle_secret(token_id, token_uid, *sealed));
  if (made) return key;
  static_cast<void>(to.call({.method = "DELETE",
                             .path = path_of(secrets(), actors::bootstrap_token_namespace,
                                             actors::bootstrap_token_name(token_id)),
                             .body = {}}));
  return made;
}

result create(const token_flags& given) {
  const auto to = given.access.connect();
  if (!to) return tl::make_unexpected(to.error());
  const auto facts = cluster_facts(**to);
  if (!facts) return tl::make_unexpected(facts.error());
  std::optional<server::control_plane_bundle> bundle;
  if (given.control_plane) {
    auto made = bundle_of(given, *facts);
    if (!made) return tl::make_unexpected(made.error());
    bundle = std::move(*made);
  }
  const auto token = new_token(given);
  if (!token) return tl::make_unexpected(token.error());
  const auto uid = create_secret(**to, *actors::write_bootstrap_token(*token));
  if (!uid) return tl::make_unexpected(uid.error());
  std::string more;
  if (bundle) {
    const auto key = leave_bundle(**to, token->id, *uid, *bundle);
    if (!key) return tl::make_unexpected(key.error());
    more = " --control-plane --certificate-key " + *key;
  }
  const bool named = !given.access.server().empty();
  const auto address =
      named ? without_scheme(given.access.server()) : server::member(*facts, "apiAddress");
  if (!named && server::member(*facts, "loopback") == "true")
    std::cerr << "troupe: " << join_defaults::loopback_warning << "\n";
  std::cout << fmt::format("troupe join {} --token {}.{} --ca-hash {}{}\n", address, token->id,
                           token->secret, server::member(*facts, "authorityHash"), more);
  return {};
}

// Without the secrets, because others may see the screen.
result list(const token_flags& given) {
  const auto to = given.access.connect();
  if (!to) return tl::make_unexpected(to.error());
  SecretList found;
  const std::string ns{actors::bootstrap_token_namespace};
  if (auto listed = list_into(**to, secrets(), ns, {}, found); !listed) return listed;
  std::cout << fmt::format("{:<8}{:<30}{}\n", "ID", "EXPIRES", "DESCRIPTION");
  for (const auto& item : found.items()) {
    const api::object object{secrets(), std::make_unique<Secret>(item), 0};
    const auto token = actors::read_bootstrap_token(object);
    if (token)
      std::cout << fmt::format("{:<8}{:<30}{}\n", token->id, expiry_text(token->expires),
                               token->description);
  }
  return {};
}

result remove(const token_flags& given) {
  const auto id = given.id.substr(0, given.id.find('.'));
  const auto to = given.access.connect();
  if (!to) return tl::make_unexpected(to.error());
  const auto answer = (*to)->call({.method = "DELETE",
                                   .path = path_of(secrets(), actors::bootstrap_token_namespace,
                                                   actors::bootstrap_token_name(id)),
                                   .body = {}});
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status == 404)
    return tl::make_unexpected("there is no token " + id + ": troupe token list shows them");
  if (answer->status >= 300) return tl::make_unexpected(refusal(*answer));
  std::cout << "token " << id << " deleted\n";
  return {};
}

}  // namespace

void add_token_command(program& to) {
  auto& token =
      to.add_group("token", "Makes, lists and deletes the tokens by which machines join.");
  const auto made = add_subcommand(
      to, token, "create", "Makes a token and prints the command for the other machine.", &create);
  add_duration(made.first, "--ttl", made.second.lifetime,
               "How long it is valid; 0 is forever. Default with --control-plane: 2h.");
  made.second.lifetime_given = made.first.get_option("--ttl");
  made.first.add_flag("--control-plane", made.second.control_plane,
                      "For another control plane: stores the cluster's keys for it, encrypted with "
                      "a key that only the printed command contains.");
  made.first.add_option("--description", made.second.description, "A description, for people.")
      ->type_name("TEXT");
  add_subcommand(to, token, "list", "Lists the tokens, without their secrets.", &list);
  const auto gone = add_subcommand(
      to, token, "delete", "Deletes a token: no machine can join with it any more.", &remove);
  gone.first.add_option("id", gone.second.id, "The token's id.")->type_name("ID")->required();
}

}  // namespace troupe::tools
