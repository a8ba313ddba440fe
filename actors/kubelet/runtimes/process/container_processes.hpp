// Containers as processes of this machine: starts shims, waits for their end, sends signals.
//
// Thread safe. No function blocks the caller: jobs do disk work and spawning, in order for each
// pod, and an event loop waits for process exits by pidfd. Observers are called on those threads
// and must not block. All state is in the containers' directories, where the next node process
// finds it (`follow`). A read that fails for lack of descriptors or memory is retried: a container
// is reported as ended or absent only if that was really seen.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/os/job_queue.hpp"
#include "actors/kubelet/runtime/container_runtime.hpp"
#include "actors/kubelet/runtimes/process/container_dir.hpp"

namespace troupe::actors {

// The path of the running program.
std::string own_program();

class container_processes {
 public:
  // `program`: the program to start with `container-shim DIR` (container_programs.hpp).
  container_processes(std::string program, std::shared_ptr<job_queue> jobs,
                      std::shared_ptr<event_loop> loop);
  // Stops the loop and leaves containers running; no observer is called after this.
  ~container_processes();

  // The control groups of this machine.
  const cgroup_tree& groups() const noexcept;

  // Writes the spec and starts a shim; removes old attempts (container_files.hpp). `tell` is called
  // when the container runs and when it ended; only for the end if it could not be started.
  void start(container_dir dir, container_spec spec, container_observer tell);
  // Adopts a container that another process started. `boot_id` is that of the current boot: a
  // container of another boot has ended.
  void follow(container_dir dir, std::string boot_id, container_observer tell);
  // Sends SIGTERM to the container's process, or SIGKILL to its whole session.
  void stop(container_dir dir, bool kill);

  // The newest attempt of each container below `pod_dir`/containers/NAME/ATTEMPT.
  struct found {
    std::string container;
    int attempt = 0;
    container_dir dir;
    std::string image, boot_id;            // as in its spec
    std::optional<container_exit> before;  // how the previous attempt ended
  };
  void survey(std::filesystem::path pod_dir, std::function<void(std::vector<found>)> done);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::actors
