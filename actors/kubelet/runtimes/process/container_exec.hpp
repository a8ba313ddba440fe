// A command inside of a running container: for probes, hooks and `kubectl exec`. It is this same
// program, started with a hidden subcommand, which enters the namespaces of the container's process
// and runs the command there, with the container's environment and working directory.
//
// The command ends with the container (it is in its PID namespace) and with its caller.
// Without namespaces it runs next to the container's processes.
#pragma once

#include <string>
#include <vector>

namespace troupe::actors {

// The hidden subcommand: `container-exec DIR WORD…`.
inline constexpr const char* container_exec_command = "container-exec";

// `directory` is that of the container. Returns what the command returned, 128 + signal when it was
// ended by one, 126 or 127 when it could not be run; the reason is on the standard error.
int container_exec_main(const char* directory, const std::vector<std::string>& command);

}  // namespace troupe::actors
