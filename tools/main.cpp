#include <cstring>

#include "actors/kubelet/container_shim.hpp"
#include "tools/commands.hpp"
#include "tools/program.hpp"

int main(int argc, char** argv) {
  // The kubelet starts this program again for each container; no command line is parsed for that.
  if (argc == 3 && std::strcmp(argv[1], troupe::actors::container_shim_command) == 0)
    return troupe::actors::container_shim_main(argv[2]);
  troupe::tools::program program;
  troupe::tools::add_commands(program);
  return program.run(argc, argv);
}
