#include <iostream>
#include <memory>

#include "tools/command_line/program.hpp"
#include "tools/commands/commands.hpp"

namespace troupe::tools {

namespace {

int show(const CLI::App& root, const std::vector<std::string>& names) {
  const auto* at = &root;
  for (const auto& name : names) {
    const auto below =
        at->get_subcommands([&](const CLI::App* s) { return s->get_name() == name; });
    if (below.empty())
      return fail_with(
          full_name(*at) + " has no subcommand " + name + "; see " + full_name(*at) + " --help",
          exit_code::usage);
    at = below.front();
  }
  std::cout << help_of(*at);
  return exit_code::done;
}

}  // namespace

void add_help_command(program& to) {
  const auto names = std::make_shared<std::vector<std::string>>();
  auto& command = to.add("help", "Explains the program, or a subcommand.",
                         [&to, names] { return show(to.root(), *names); });
  command.add_option("subcommand", *names, "The subcommand, such as: config print.")
      ->type_name("SUBCOMMAND");
}

}  // namespace troupe::tools
