#include <iostream>

#include "tools/commands.hpp"
#include "tools/program.hpp"

namespace troupe::tools {

void add_version_command(program& to) {
  to.add("version", "Shows the version.", [] {
    std::cout << "troupe " TROUPE_VERSION "\n";
    return exit_code::done;
  });
}

}  // namespace troupe::tools
