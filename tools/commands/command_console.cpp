#include <filesystem>
#include <memory>

#include "server/connections/local_socket.hpp"
#include "tools/command_line/access_flags.hpp"
#include "tools/command_line/program.hpp"
#include "tools/commands/commands.hpp"
#include "tools/console/console_client.hpp"
#include "tools/console/console_command.hpp"
#include "tools/console/console_session.hpp"

namespace troupe::tools {

namespace {

struct console_flags {
  explicit console_flags(CLI::App& command) : access{command} {}

  access_flags access;
  std::string output = "text";
  std::vector<std::string> commands;
  std::string node;
  bool allow_control = false;
};

// By the node's socket if its data directory is given, else by address and keys.
tl::expected<std::unique_ptr<console_client>, std::string> attach(const access_flags& flags) {
  std::error_code ignored;
  const auto folder = flags.local_dir();
  if (!folder.empty() && std::filesystem::is_socket(folder / server::console_socket, ignored))
    return console_client::at(folder);
  const auto access = flags.access();
  if (!access) return tl::make_unexpected(access.error());
  return console_client::make(*access);
}

int run(const console_flags& given) {
  const auto node = attach(given.access);
  if (!node) return fail_with(node.error());
  console_session session{**node, {given.output, given.allow_control, given.node}};
  if (given.commands.empty()) return session.prompt();
  for (const auto& command : given.commands) {
    if (ends_console(command)) break;
    if (const auto code = session.run(command, false); code != exit_code::done) return code;
  }
  return exit_code::done;
}

}  // namespace

void add_console_command(program& to) {
  const auto flags = std::make_shared<std::unique_ptr<console_flags>>();
  auto& command = to.add(
      "console", "Shows the actors of a running node, their messages and the causes of changes.",
      [flags] { return run(**flags); });
  *flags = std::make_unique<console_flags>(command);
  auto& given = **flags;
  command.add_option("--output", given.output, "The format of answers. Default: text.")
      ->type_name("text|json|yaml")
      ->check(CLI::IsMember({"text", "json", "yaml"}));
  command
      .add_option("--node", given.node,
                  "The machine whose actors are shown. Default: the attached one.")
      ->type_name("NODE");
  command.add_flag("--allow-control", given.allow_control,
                   "Allows restart, pause, resume, kill, send and log LEVEL.");
  command
      .add_option("-c,--command", given.commands,
                  "Runs a command and exits, e.g. -c 'actors --sort busy --top 20'; may be given "
                  "several times.")
      ->type_name("COMMAND")
      ->take_all();
}

}  // namespace troupe::tools
