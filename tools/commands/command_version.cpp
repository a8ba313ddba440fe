#include <iostream>
#include <string>

#include "tools/command_line/program.hpp"
#include "tools/commands/commands.hpp"

namespace troupe::tools {

void add_version_command(program& to) {
  const std::string text = "troupe " TROUPE_VERSION;
  to.version(text);
  to.add("version", "Shows the version.", [text] {
    std::cout << text << "\n";
    return exit_code::done;
  });
}

}  // namespace troupe::tools
