#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "config/defaults.hpp"
#include "server/access/user_tokens.hpp"
#include "server/credentials/kubeconfig.hpp"
#include "tools/command_line/access_flags.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/wait_flags.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/credential_commands.hpp"

namespace troupe::tools {

namespace {

using api::core::v1::Secret;
using api::core::v1::SecretList;
using result = tl::expected<void, std::string>;

// One year, as client certificates.
constexpr std::chrono::hours user_lifetime{365 * 24};

struct user_flags {
  explicit user_flags(CLI::App& command)
      : access{command, std::string{config::defaults::data_dir}} {}

  access_flags access;
  wait::duration lifetime{user_lifetime};
  std::string name;
  std::vector<std::string> groups;
};

const api::kind_info& secrets() {
  return api::kind_of<Secret>();
}
const std::string secrets_namespace{server::user_token_namespace};

result create(const user_flags& given) {
  for (const auto& name : given.groups)
    if (auto fine = server::check_user_name(name); !fine) return fine;
  if (auto fine = server::check_user_name(given.name); !fine) return fine;
  auto access = given.access.access();
  if (!access) return tl::make_unexpected(access.error());
  const auto to = given.access.connect();
  if (!to) return tl::make_unexpected(to.error());
  const auto token = server::new_user_token(given.name);
  if (token.empty()) return tl::make_unexpected(std::string{"no random numbers for the token"});
  server::user_token made{.user = given.name,
                          .groups = given.groups,
                          .hash = server::hash_of_user_token(token),
                          .expires = std::nullopt};
  if (given.lifetime.count() > 0) made.expires = std::chrono::system_clock::now() + given.lifetime;
  const auto answer =
      (*to)->call({.method = "POST",
                   .path = path_of(secrets(), secrets_namespace),
                   .body = api::encode_json(*server::write_user_token(made), "v1", "Secret")});
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status == 409)
    return tl::make_unexpected("there is a user " + given.name +
                               " already: troupe user delete removes it");
  if (answer->status != 201) return tl::make_unexpected(refusal(*answer));
  std::cout << server::kubeconfig({.server = access->server,
                                   .authority = access->authority,
                                   .certificate = {},
                                   .private_key = {},
                                   .token = token},
                                  given.name);
  std::cerr << fmt::format(
      "troupe: {0} has the rights that roles grant, for example: kubectl create "
      "clusterrolebinding {0}-view --clusterrole view --user {0}\n",
      given.name);
  return {};
}

result list(const user_flags& given) {
  const auto to = given.access.connect();
  if (!to) return tl::make_unexpected(to.error());
  SecretList found;
  const auto labels = std::string{server::user_token_label} + "=true";
  if (auto listed = list_into(**to, secrets(), secrets_namespace, labels, found); !listed)
    return listed;
  std::cout << fmt::format("{:<24}{:<30}{}\n", "NAME", "EXPIRES", "GROUPS");
  for (const auto& item : found.items()) {
    const api::object object{secrets(), std::make_unique<Secret>(item), 0};
    if (const auto token = server::read_user_token(object))
      std::cout << fmt::format("{:<24}{:<30}{}\n", token->user, expiry_text(token->expires),
                               fmt::join(token->groups, ","));
  }
  return {};
}

result remove(const user_flags& given) {
  const auto to = given.access.connect();
  if (!to) return tl::make_unexpected(to.error());
  const auto answer = (*to)->call(
      {.method = "DELETE",
       .path = path_of(secrets(), secrets_namespace, server::user_secret_name(given.name)),
       .body = {}});
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status == 404)
    return tl::make_unexpected("there is no user " + given.name + ": troupe user list shows them");
  if (answer->status >= 300) return tl::make_unexpected(refusal(*answer));
  std::cout << "user " << given.name << " deleted\n";
  return {};
}

}  // namespace

void add_user_command(program& to) {
  auto& user = to.add_group("user", "Makes, lists and deletes the tokens of people.");
  const auto made = add_subcommand(
      to, user, "create", "Makes a token for a person, and prints a kubeconfig with it.", &create);
  made.first.add_option("name", made.second.name, "Name of the user.")
      ->type_name("NAME")
      ->required();
  made.first.add_option("--group", made.second.groups, "A group of the user; may be repeated.")
      ->type_name("GROUP");
  add_duration(made.first, "--ttl", made.second.lifetime, "How long it is valid; 0 is forever.");
  add_subcommand(to, user, "list", "Lists the users, without their tokens.", &list);
  const auto gone = add_subcommand(to, user, "delete",
                                   "Deletes a user: the token becomes invalid at once.", &remove);
  gone.first.add_option("name", gone.second.name, "Name of the user.")
      ->type_name("NAME")
      ->required();
}

}  // namespace troupe::tools
