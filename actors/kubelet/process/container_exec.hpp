// A command inside of a running container: for probes, hooks and `kubectl exec`. It is this same
// program, started with a hidden subcommand, which enters the namespaces of the container's process
// and runs the command there, with the container's environment and working directory.
//
// The command ends with the container (it is in its PID namespace) and with its caller.
// Without namespaces it runs next to the container's processes.
#pragma once

#include <string>
#include <vector>

#include "actors/kubelet/process/container_dir.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

// The hidden subcommand: `container-exec DIR WORD…`.
inline constexpr const char* container_exec_command = "container-exec";

// `directory` is that of the container. Returns what the command returned, 128 + signal when it was
// ended by one, 126 or 127 when it could not be run; the reason is on the standard error.
int container_exec_main(const char* directory, const std::vector<std::string>& command);

struct exec_result {
  int code = 0;
  std::string output;      // both streams, the first `kubelet_defaults::check_output_bytes`
  bool timed_out = false;  // it was killed then
};

// Runs a command in a container and waits for it: not for actors' threads. The error is the reason
// why it could not be tried at all. `program` as in process_runtime. As soon as `cancel` (a
// descriptor) can be read the command is killed.
tl::expected<exec_result, std::string> run_in_container(const std::string& program,
                                                        const container_dir& dir,
                                                        const std::vector<std::string>& command,
                                                        runtime::duration timeout, int cancel = -1);

}  // namespace troupe::actors
