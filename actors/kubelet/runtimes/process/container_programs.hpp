// The hidden subcommands of the program, which the kubelet starts for each container and for each
// command in one.
#pragma once

#include <optional>

namespace troupe::actors {

// Runs the shim or a command in a container when the command line asks for it, and returns the exit
// code; nothing for any other command line. To be called before anything else: it forks.
std::optional<int> run_container_program(int argc, char** argv);

}  // namespace troupe::actors
