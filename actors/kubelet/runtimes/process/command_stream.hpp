// A command in a container, read and written without blocking (streams.hpp), for probes, hooks and
// `kubectl exec`. All work is done on the thread of an event loop.
#pragma once

#include <memory>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/runtime/container_runtime.hpp"
#include "actors/kubelet/runtimes/process/exec_process.hpp"

namespace troupe::actors {

// Destroying the stream ends the command: SIGTERM, then SIGKILL if it does not exit.
std::unique_ptr<exec_stream> stream_command(std::shared_ptr<event_loop> loop, exec_process process);

// Waits for the exit of the command, even if other processes keep its streams open, and collects
// the beginning of its output. The command is killed after `timeout`.
void await_command(std::shared_ptr<event_loop> loop, exec_process process,
                   runtime::duration timeout, std::function<void(command_result)> done);

}  // namespace troupe::actors
