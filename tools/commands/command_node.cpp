#include <memory>

#include "tools/command_line/config_flags.hpp"
#include "tools/command_line/program.hpp"
#include "tools/commands/commands.hpp"
#include "tools/node/compose.hpp"
#include "tools/node/node_process.hpp"

namespace troupe::tools {

namespace {

int run(const config_flags& flags) {
  const auto loaded = flags.load();
  if (!loaded) return loaded.error();
  return exit_code_of(run_node(loaded->config, compose));
}

}  // namespace

void add_node_command(program& to) {
  const auto flags = std::make_shared<std::unique_ptr<config_flags>>();
  auto& command = to.add("node", "Launches a node.", [flags] { return run(**flags); });
  *flags = std::make_unique<config_flags>(command);
}

}  // namespace troupe::tools
