// A command in a container, read and written without blocking (streams.hpp): the basis of probes,
// hooks and `kubectl exec`. All of it happens on the thread of an event loop.
#pragma once

#include <memory>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/runtime/container_runtime.hpp"
#include "actors/kubelet/runtimes/process/exec_process.hpp"

namespace troupe::actors {

// Destroying the stream ends the command, with SIGKILL where it does not end at SIGTERM.
std::unique_ptr<exec_stream> stream_command(std::shared_ptr<event_loop> loop, exec_process process);

// Waits for the end of the command, whatever holds its streams then, and keeps the beginning of
// what it writes. It is ended when `timeout` is over.
void await_command(std::shared_ptr<event_loop> loop, exec_process process,
                   runtime::duration timeout, std::function<void(command_result)> done);

}  // namespace troupe::actors
