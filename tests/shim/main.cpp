// The program's hidden subcommand alone, for tests that run containers without the whole program.
#include <cstring>

#include "actors/kubelet/container_shim.hpp"

int main(int argc, char** argv) {
  if (argc != 3 || std::strcmp(argv[1], troupe::actors::container_shim_command) != 0) return 2;
  return troupe::actors::container_shim_main(argv[2]);
}
