#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>

#include "server/kubeconfig.hpp"
#include "tools/commands.hpp"
#include "tools/console.hpp"
#include "tools/program.hpp"

namespace troupe::tools {

namespace {

struct console_flags {
  std::string data_dir, server, kubeconfig, token_file, authority_file;
  std::string output = "text";
  std::vector<std::string> commands;
  bool allow_control = false;
};

using access_result = tl::expected<server::cluster_access, std::string>;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

tl::expected<std::string, std::string> text_of_file(const std::string& path) {
  auto text = server::read_file(path);
  if (!text) return text;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r'))
    text->pop_back();
  return text;
}

// --data-dir before --kubeconfig before $KUBECONFIG; --server and the token change parts of it.
access_result access_by(const console_flags& given) {
  server::cluster_access access;
  auto file = given.kubeconfig;
  if (!given.data_dir.empty()) file = std::filesystem::path{given.data_dir} / "admin.kubeconfig";
  if (file.empty()) file = environment("KUBECONFIG");
  if (!file.empty()) {
    auto read = server::read_kubeconfig(file);
    if (!read) return read;
    access = std::move(*read);
  } else if (given.server.empty()) {
    return tl::make_unexpected(std::string{
        "which node? Name it by --data-dir, --kubeconfig or --server, or set KUBECONFIG"});
  }
  if (!given.server.empty()) access.server = given.server;
  for (const auto& [into, path] : {std::pair{&access.token, &given.token_file},
                                   std::pair{&access.authority, &given.authority_file}}) {
    if (path->empty()) continue;
    auto text = text_of_file(*path);
    if (!text) return tl::make_unexpected(text.error());
    *into = std::move(*text);
  }
  return access;
}

int run(const console_flags& given) {
  const auto access = access_by(given);
  if (!access) {
    std::cerr << "troupe: " << access.error() << "\n";
    return exit_code::failed;
  }
  const auto node = console_client::make(*access);
  if (!node) {
    std::cerr << "troupe: " << node.error() << "\n";
    return exit_code::failed;
  }
  console_session session{**node, {given.output, given.allow_control}};
  if (given.commands.empty()) return session.prompt();
  for (const auto& command : given.commands)
    if (const auto code = session.run(command, false); code != exit_code::done) return code;
  return exit_code::done;
}

}  // namespace

void add_console_command(program& to) {
  const auto flags = std::make_shared<console_flags>();
  auto& command = to.add("console", "Shows what every actor of a running node does, and why.",
                         [flags] { return run(*flags); });
  const auto text = [&](const char* name, std::string& into, const char* about, const char* type) {
    command.add_option(name, into, about)->type_name(type);
  };
  text("--data-dir", flags->data_dir, "Attaches to the node that runs there, as its administrator.",
       "DIR");
  text("--kubeconfig", flags->kubeconfig, "Who to be, and where. Default: $KUBECONFIG.", "FILE");
  text("--server", flags->server, "The node's address, https://HOST:PORT.", "URL");
  text("--token-file", flags->token_file, "Holds a bearer token.", "FILE");
  text("--ca-file", flags->authority_file, "The cluster's authority, as PEM.", "FILE");
  command.add_option("--output", flags->output, "How answers are written. Default: text.")
      ->type_name("text|json|yaml")
      ->check(CLI::IsMember({"text", "json", "yaml"}));
  command.add_flag("--allow-control", flags->allow_control,
                   "Lets restart, pause, resume, kill, send and log LEVEL through.");
  command
      .add_option("-c,--command", flags->commands,
                  "Runs a command and ends, e.g. -c 'actors --sort busy --top 20'; may be given "
                  "several times.")
      ->type_name("COMMAND")
      ->take_all();
}

}  // namespace troupe::tools
