// Runs a command in a running container: for probes, hooks and `kubectl exec`. This same program,
// started with a hidden subcommand, enters the namespaces of the container's process and runs the
// command with the container's environment and working directory.
//
// The command ends with the container (it is in its PID namespace) and with its caller. Without
// namespaces it runs as an ordinary process of the machine.
#pragma once

#include <string>
#include <vector>

namespace troupe::actors {

// The hidden subcommand: `container-exec DIR WORD…`.
inline constexpr const char* container_exec_command = "container-exec";

// `directory` is the container's. Returns the command's exit code, 128 + signal if a signal ended
// it, 126 or 127 if it could not be run; the reason is written to the standard error.
int container_exec_main(const char* directory, const std::vector<std::string>& command);

}  // namespace troupe::actors
