// Tells those who follow containers and sandboxes their changes: on events of containerd, and
// by looking at all of them every `cri_defaults::relist`, since a stream of events that broke has
// told nothing meanwhile. Belongs to the loop's thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/os/job_queue.hpp"
#include "actors/kubelet/runtime/container_runtime.hpp"
#include "actors/kubelet/runtimes/cri/cri_client.hpp"

namespace troupe::actors {

// The end of a container as its status tells it; the termination message is not in it. Pure.
container_exit exit_of(const cri::ContainerStatus& ended);

class container_watcher {
 public:
  container_watcher(std::shared_ptr<event_loop> loop, std::shared_ptr<cri_client> client,
                    job_queue& jobs);

  // Begins to listen and to look.
  void start();
  // Ids are those of the runtime, without its name.
  void follow_container(const std::string& id, container_observer observer);
  void follow_sandbox(const std::string& id, sandbox_observer observer);
  // Looks at one of them now.
  void look_at(const std::string& id);
  void forget_sandbox(const std::string& id) { sandboxes_.erase(id); }

 private:
  struct followed {
    container_observer observer;
    bool running = false;  // the observer has been told
    std::string log = {};  // its file; known while it runs
  };

  void listen();
  void look_at_all();
  void rotate_logs();
  void take(const std::string& id, const cri_result<cri::ContainerStatusResponse>& answer);
  void take(const std::string& id, const cri_result<cri::PodSandboxStatusResponse>& answer);
  void tell_end(const std::string& id, const cri::ContainerStatus& status);

  const std::shared_ptr<event_loop> loop_;
  const std::shared_ptr<cri_client> client_;
  job_queue& jobs_;
  std::map<std::string, followed> containers_;
  std::map<std::string, sandbox_observer> sandboxes_;
};

}  // namespace troupe::actors
