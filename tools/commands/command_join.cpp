#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>

#include "server/credentials/addresses.hpp"
#include "server/credentials/kubeconfig.hpp"
#include "tools/command_line/config_flags.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/secret_arguments.hpp"
#include "tools/commands/commands.hpp"
#include "tools/join/control_plane_join.hpp"
#include "tools/join/defaults.hpp"
#include "tools/join/join_process.hpp"
#include "tools/join/joined_node.hpp"
#include "tools/node/compose.hpp"
#include "tools/node/node_process.hpp"

namespace troupe::tools {

namespace {

struct join_flags {
  explicit join_flags(CLI::App& command) : node{command} {}

  config_flags node;
  join_line line;
  std::string token_file;
  bool control_plane = false;
  std::string certificate_key;
};

tl::expected<std::string, std::string> standard_input() {
  std::string text;
  std::array<char, 256> part;
  while (text.size() < join_defaults::token_limit_bytes) {
    const auto got = ::read(STDIN_FILENO, part.data(), part.size());
    if (got <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// --token overrides --token-file, which overrides TROUPE_TOKEN.
tl::expected<std::string, std::string> token_of(const join_flags& given) {
  if (!given.line.token.empty()) return given.line.token;
  if (given.token_file.empty()) return token_of_environment();
  auto text = given.token_file == "-" ? standard_input() : server::read_file(given.token_file);
  if (!text) return text;
  text->erase(
      std::find_if(text->begin(), text->end(), [](char c) { return c == '\n' || c == '\r'; }),
      text->end());
  return text;
}

int run(const join_flags& given) {
  const auto loaded = given.node.load();
  if (!loaded) return loaded.error();
  const auto token = token_of(given);
  if (!token) return fail_with(token.error());
  join_options options{given.line, false};
  options.line.token = *token;
  if (given.control_plane || has_joined_as_control_plane(loaded->config.data_dir)) {
    auto config = loaded->config;
    if (auto joined = join_as_control_plane(config, {options.line, given.certificate_key}); !joined)
      return fail_with(joined.error());
    if (server::is_loopback(config.server.listen.host))
      std::cerr << "troupe: " << join_defaults::loopback_warning << "\n";
    return exit_code_of(run_node(config, compose));
  }
  const auto source = loaded->sources.find("kubelet.node_name");
  options.is_named = source != loaded->sources.end() && source->second != "default";
  return exit_code_of(run_joined(loaded->config, options, compose_joined));
}

}  // namespace

void add_join_command(program& to) {
  const auto flags = std::make_shared<std::unique_ptr<join_flags>>();
  auto& command = to.add("join", "Makes this machine a node, or a control plane, of a cluster.",
                         [flags] { return run(**flags); });
  *flags = std::make_unique<join_flags>(command);
  auto& given = **flags;
  command
      .add_option("address", given.line.address,
                  "The addresses of API servers, separated by commas. Not needed with a data dir "
                  "that has joined.")
      ->type_name("HOST:PORT");
  command
      .add_option("--token", given.line.token,
                  "The token that `troupe token create` printed; also TROUPE_TOKEN.")
      ->type_name("ID.SECRET");
  command.add_option("--token-file", given.token_file, "Contains the token; - is standard input.")
      ->type_name("FILE");
  command
      .add_option("--ca-hash", given.line.authority_hash,
                  "The hash of the cluster's authority: the token is sent to no other server.")
      ->type_name("sha256:HASH");
  command.add_flag("--control-plane", given.control_plane,
                   "Joins as a control plane; the cluster's state must be in an etcd.");
  command
      .add_option(
          "--certificate-key", given.certificate_key,
          "Decrypts the keys of the cluster; `troupe token create --control-plane` prints it.")
      ->type_name("KEY");
}

}  // namespace troupe::tools
