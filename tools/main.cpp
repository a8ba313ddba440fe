#include "actors/kubelet/container_programs.hpp"
#include "tools/commands.hpp"
#include "tools/program.hpp"

int main(int argc, char** argv) {
  // The kubelet starts this program again for each container; no command line is parsed for that.
  if (const auto done = troupe::actors::run_container_program(argc, argv)) return *done;
  troupe::tools::program program;
  troupe::tools::add_commands(program);
  return program.run(argc, argv);
}
