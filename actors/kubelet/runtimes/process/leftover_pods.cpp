#include "actors/kubelet/runtimes/process/leftover_pods.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

#include <chrono>

#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "actors/kubelet/runtimes/process/container_files.hpp"
#include "actors/kubelet/runtimes/process/defaults.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

// Kills the container first, so that its shim can clean up; then the shim.
void end_container(const container_dir& dir) {
  const auto running = dir.running();
  if (dir.exit() || !running || !running->shim.alive()) return;
  const runtime::unique_fd shim{static_cast<int>(::syscall(SYS_pidfd_open, running->shim.pid, 0))};
  if (!running->shim.alive()) return;  // the descriptor belongs to a later process
  running->process.signal(SIGKILL, true);
  pollfd ended{shim.get(), POLLIN, 0};
  constexpr auto patience =
      std::chrono::duration_cast<std::chrono::milliseconds>(process_defaults::leftover_patience);
  if (::poll(&ended, 1, static_cast<int>(patience.count())) > 0) return;
  running->shim.signal(SIGKILL, false);
  ::poll(&ended, 1, static_cast<int>(patience.count()));
}

}  // namespace

bool end_leftover_pods(const fs::path& root_dir) {
  std::error_code problem;
  for (const auto& uid : pods_on_disk(root_dir)) {
    const auto pod = pod_path(root_dir, uid);
    for (const auto& container : fs::directory_iterator{pod / "containers", problem})
      for (const auto& attempt : fs::directory_iterator{container.path(), problem})
        end_container(container_dir{attempt.path()});
    remove_containers(pod);
    remove_pod_files(pod);
  }
  const auto left = pods_on_disk(root_dir);  // also retries pods that could not be removed at once
  const bool empty = left.empty() && (!fs::exists(root_dir / "pods", problem) ||
                                      fs::is_empty(root_dir / "pods", problem));
  fs::remove(root_dir / "pods", problem);
  fs::remove(root_dir / "mount-points", problem);
  return empty;
}

}  // namespace troupe::actors
