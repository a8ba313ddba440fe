// The hidden subcommands of the program: the kubelet starts one for each container and one for each
// command in a container.
#pragma once

#include <optional>

namespace troupe::actors {

// Runs the shim or a container command if the command line asks for it, and returns its exit code;
// nothing for any other command line. Must be called first in main: it forks.
std::optional<int> run_container_program(int argc, char** argv);

}  // namespace troupe::actors
