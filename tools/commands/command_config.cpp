#include <iostream>
#include <memory>

#include "config/render.hpp"
#include "tools/command_line/config_flags.hpp"
#include "tools/command_line/program.hpp"
#include "tools/commands/commands.hpp"

namespace troupe::tools {

namespace {

// A subcommand that uses the configuration from its flags, the file and the environment.
void add_about_config(program& to, CLI::App& parent, const std::string& name,
                      const std::string& about,
                      std::function<void(const config::loaded_config&)> show) {
  const auto flags = std::make_shared<std::unique_ptr<config_flags>>();
  auto& command = to.add(parent, name, about, [flags, show = std::move(show)] {
    const auto loaded = (*flags)->load();
    if (!loaded) return loaded.error();
    show(*loaded);
    return exit_code::done;
  });
  *flags = std::make_unique<config_flags>(command);
}

}  // namespace

void add_config_command(program& to) {
  auto& config = to.add_group("config", "Shows, checks and explains the configuration.");
  add_about_config(to, config, "print", "Prints the effective configuration, with sources.",
                   [](const auto& loaded) { std::cout << config::render_yaml(loaded); });
  add_about_config(to, config, "validate", "Checks the configuration.",
                   [](const auto&) { std::cout << "the configuration is valid\n"; });
  to.add(config, "docs", "Prints the meaning of every key, as Markdown.", [] {
    std::cout << config::render_docs();
    return exit_code::done;
  });
}

}  // namespace troupe::tools
