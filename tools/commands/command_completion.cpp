#include <iostream>
#include <memory>

#include "tools/command_line/completion.hpp"
#include "tools/command_line/program.hpp"
#include "tools/commands/commands.hpp"

namespace troupe::tools {

namespace {

int show(const CLI::App& root, const std::string& shell) {
  const auto script = completion_script(root, shell);
  if (script.empty())
    return fail_with("expected a shell: bash, zsh or fish; found \"" + shell + "\"",
                     exit_code::usage);
  std::cout << script;
  return exit_code::done;
}

}  // namespace

void add_completion_command(program& to) {
  const auto shell = std::make_shared<std::string>();
  auto& command = to.add("completion", "Prints a script that completes command lines in a shell.",
                         [&to, shell] { return show(to.root(), *shell); });
  command.add_option("shell", *shell, "The shell.")->type_name("bash|zsh|fish")->required();
}

}  // namespace troupe::tools
