// The program's hidden subcommands alone, for tests that run containers without the whole program.
#include "actors/kubelet/container_programs.hpp"

int main(int argc, char** argv) {
  return troupe::actors::run_container_program(argc, argv).value_or(2);
}
