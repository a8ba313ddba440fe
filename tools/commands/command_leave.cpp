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

int run(const leave_order& order) {
  const auto done =
      leave(order, [](const std::string& line) { std::cerr << "troupe: " << line << std::endl; });
  if (done) {
    std::cout << "left\n";
    return exit_code::done;
  }
  std::cerr << "troupe: " << done.error() << "\n";
  return exit_code::failed;
}

}  // namespace

void add_leave_command(program& to) {
  const auto order = std::make_shared<leave_order>();
  order->data_dir = config::defaults::data_dir;
  auto& command =
      to.add("leave", "Removes this machine from its cluster.", [order] { return run(*order); });
  command
      .add_option("--data-dir", order->data_dir,
                  "Where the node keeps its data. Default: " +
                      std::string{config::defaults::data_dir} + ".")
      ->type_name("DIR");
  add_duration(command, "--timeout", order->timeout, "How long its pods may take to end.");
  command.add_flag("--force", order->force,
                   "Does not wait for pods, nor for a control plane that does not answer.");
}

}  // namespace troupe::tools
