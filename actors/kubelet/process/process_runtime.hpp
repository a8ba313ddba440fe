// Containers as processes of this machine: starts shims, sees their end, sends signals.
//
// Thread safe. No function blocks the caller: a small pool does disk and spawning, one thread waits
// for the ends of processes by pidfd. Observers are called on those threads and must not block;
// they send a message to an actor. The containers' directories hold all state, so that the next
// node finds it
// (`follow`). Jobs of a pod run one after the other, in the order of the calls. What cannot be read
// for lack of descriptors or memory is read again later: a container is reported as ended or absent
// only when that was seen.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/kubelet/process/container_dir.hpp"

namespace troupe::actors {

// A container runs, or has ended.
using container_change = std::variant<container_running, container_exit>;
using container_observer = std::function<void(const container_change&)>;

// The path of the program that runs.
std::string own_program();

class process_runtime {
 public:
  // `program`: what to start with `container-shim DIR` (container_programs.hpp).
  explicit process_runtime(std::string program);
  // Leaves containers running; observers are called no more.
  ~process_runtime();

  // The control groups of this machine.
  const cgroup_tree& groups() const noexcept;

  // Writes the spec and starts a shim; removes what older attempts left (pod_files.hpp). `tell`
  // is called when it runs and when it ended; only the latter when it could not be started.
  void start(container_dir dir, container_spec spec, container_observer tell);
  // Adopts a container that was started before this runtime was made. `boot_id` is that of the
  // machine now: a container of another boot has ended.
  void follow(container_dir dir, std::string boot_id, container_observer tell);
  // SIGTERM to the container's process, or SIGKILL to all of its session.
  void stop(container_dir dir, bool kill);

  // The newest attempt of each container below `pod_dir`/containers/NAME/ATTEMPT; `done` is called
  // on a thread of the pool.
  struct found {
    std::string container;
    int attempt = 0;
    container_dir dir;
    std::string image, boot_id;            // as in its spec
    std::optional<container_exit> before;  // how the attempt before it ended
  };
  void survey(std::filesystem::path pod_dir, std::function<void(std::vector<found>)> done);
  // Runs a job on the pool (volumes, disk). False: too many jobs wait.
  bool run(std::function<void()> job);
  // The same, in the order of that pod.
  bool run(const std::filesystem::path& pod_dir, std::function<void()> job);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::actors
