// Containers as processes of this machine: starts shims, hears of their end, sends signals.
//
// Thread safe. Nothing here blocks the caller: disk and spawning happen on a small pool, the ends
// of processes are waited for on one thread by pidfd. Observers are called on those threads and
// must not block; they tell an actor. The runtime keeps no state that matters: what runs is written
// in the containers' directories, where the next node finds it (`follow`). What is asked for a pod
// is done in that order, one after the other. What cannot be looked at now, for want of descriptors
// or memory, is looked at again: nothing is said to have ended, or not to be there, until it is
// seen.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/kubelet/container_dir.hpp"

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
  // Leaves containers running; nobody is told anything any more.
  ~process_runtime();

  // What keeps containers within their limits on this machine.
  const cgroup_tree& groups() const noexcept;

  // Writes the spec and starts a shim; removes what older attempts left (pod_files.hpp). `tell`
  // hears that it runs, then how it ended; only the latter when it could not be started.
  void start(container_dir dir, container_spec spec, container_observer tell);
  // Takes up a container that was started before this runtime was made. `boot_id` is of the
  // machine's run now: what was started in another one has ended.
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
  // Work on the pool, for what goes with containers (volumes, probes). False: too much waits.
  bool run(std::function<void()> job);
  // The same, in the order of that pod.
  bool run(const std::filesystem::path& pod_dir, std::function<void()> job);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::actors
