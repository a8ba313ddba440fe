#include <iostream>
#include <memory>

#include "config/defaults.hpp"
#include "config/units.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/wait_flags.hpp"
#include "tools/commands/commands.hpp"
#include "tools/join/leave.hpp"

namespace troupe::tools {

namespace {

int run(const leave_options& options) {
  const auto done =
      leave(options, [](const std::string& line) { std::cerr << "troupe: " << line << std::endl; });
  if (done) std::cout << "left\n";
  return exit_code_of(done);
}

}  // namespace

void add_leave_command(program& to) {
  const auto options = std::make_shared<leave_options>();
  options->data_dir = config::defaults::data_dir;
  auto& command = to.add("leave", "Removes this machine from its cluster.",
                         [options] { return run(*options); });
  command
      .add_option("--data-dir", options->data_dir,
                  "Where the node keeps its data. Default: " +
                      std::string{config::defaults::data_dir} + ".")
      ->type_name("DIR");
  add_duration(command, "--timeout", options->timeout, "How long its pods may take to end.");
  command.add_flag("--force", options->force,
                   "Does not wait for pods, nor for a control plane that does not answer.");
}

}  // namespace troupe::tools
