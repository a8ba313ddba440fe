// Containers as processes of this machine: starts shims, sees their end, sends signals.
//
// Thread safe. No function blocks the caller: jobs do disk and spawning, in their order for each
// pod, and an event loop waits for the ends of processes by pidfd. Observers are called on those
// threads and must not block. The containers' directories hold all state, so that the next node
// finds it (`follow`). What cannot be read for lack of descriptors or memory is read again later: a
// container is reported as ended or absent only when that was seen.
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

// The path of the program that runs.
std::string own_program();

class container_processes {
 public:
  // `program`: what to start with `container-shim DIR` (container_programs.hpp).
  container_processes(std::string program, std::shared_ptr<job_queue> jobs,
                      std::shared_ptr<event_loop> loop);
  // Stops the loop, leaves containers running; observers are called no more.
  ~container_processes();

  // The control groups of this machine.
  const cgroup_tree& groups() const noexcept;

  // Writes the spec and starts a shim; removes what older attempts left (container_files.hpp).
  // `tell` is called when it runs and when it ended; only the latter when it could not be started.
  void start(container_dir dir, container_spec spec, container_observer tell);
  // Adopts a container that was started before this was made. `boot_id` is that of the machine now:
  // a container of another boot has ended.
  void follow(container_dir dir, std::string boot_id, container_observer tell);
  // SIGTERM to the container's process, or SIGKILL to all of its session.
  void stop(container_dir dir, bool kill);

  // The newest attempt of each container below `pod_dir`/containers/NAME/ATTEMPT.
  struct found {
    std::string container;
    int attempt = 0;
    container_dir dir;
    std::string image, boot_id;            // as in its spec
    std::optional<container_exit> before;  // how the attempt before it ended
  };
  void survey(std::filesystem::path pod_dir, std::function<void(std::vector<found>)> done);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::actors
