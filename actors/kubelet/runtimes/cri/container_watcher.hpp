// Notifies observers of containers and sandboxes about changes: on containerd's events, and by
// listing all of them: every `cri_defaults::relist`, because a broken event stream loses events,
// and every `cri_defaults::relist_without_events` if the server has none. Belongs to the loop's
// thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "actors/kubelet/logs/log_limits.hpp"
#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/os/job_queue.hpp"
#include "actors/kubelet/runtime/container_runtime.hpp"
#include "actors/kubelet/runtimes/cri/cri_client.hpp"

namespace troupe::actors {

// The end of a container from its CRI status, without the termination message. Pure.
container_exit exit_of(const cri::ContainerStatus& ended);

class container_watcher {
 public:
  container_watcher(std::shared_ptr<event_loop> loop, std::shared_ptr<cri_client> client,
                    job_queue& jobs, const log_limits& logs);

  // Subscribes to events and starts to relist.
  void start();
  // Ids are the runtime's, without the prefix of its name.
  void follow_container(const std::string& id, container_observer observer);
  void follow_sandbox(const std::string& id, sandbox_observer observer);
  // Reads the status of one container or sandbox now.
  void check_container(const std::string& id);
  // Rotates the logs of running containers whose last rotation has ended; `start` repeats it.
  void rotate_logs();
  void forget_sandbox(const std::string& id) { sandboxes_.erase(id); }

 private:
  struct followed {
    container_observer observer;
    bool running = false;   // the observer was notified of the start
    bool stopping = false;  // its state is unknown: it is being stopped
    std::string log = {};   // path; known while the container runs
  };

  void listen();
  void list_later();
  void list_all();
  void check_changed(const cri::ListContainersResponse& listed);
  void check_changed(const cri::ListPodSandboxResponse& listed);
  void rotate_periodically();
  // Repeats check_container() until the end is known, each time after a longer wait: at most
  // `ended_last`, some 2.5 s in all.
  void check_ended(const std::string& id, std::chrono::milliseconds again);
  void take(const std::string& id, const cri_result<cri::ContainerStatusResponse>& answer);
  void take(const std::string& id, const cri_result<cri::PodSandboxStatusResponse>& answer);
  void stop_unknown(const std::string& id);
  void tell_end(const std::string& id, const cri::ContainerStatus& status);

  const std::shared_ptr<event_loop> loop_;
  const std::shared_ptr<cri_client> client_;
  job_queue& jobs_;
  const log_limits log_limits_;
  std::map<std::string, followed> containers_;
  std::map<std::string, sandbox_observer> sandboxes_;
  std::set<std::string> rotating_;  // ids of containers
  std::chrono::milliseconds list_period_ = cri_defaults::relist;
  std::optional<event_loop::moment> next_list_;  // absent: a list is under way
};

}  // namespace troupe::actors
