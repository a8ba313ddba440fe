// Runs health checks: requests on its own threads, commands by the container runtime, each up to a
// maximum number at a time. Thread safe; never blocks the caller. The threads start with the first
// request, so a node without such probes has no threads.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "actors/kubelet/health/health_check.hpp"
#include "actors/kubelet/os/lazy_pool.hpp"
#include "actors/kubelet/runtime/container_runtime.hpp"
#include "runtime/clock.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

// Runs a check and calls the function once with the result, on a thread that must not be blocked.
// In a simulation it answers within the call.
using health_check_runner =
    std::function<void(const std::string& container_id, const health_check&,
                       runtime::duration timeout, std::function<void(health_result)>)>;

class health_checker {
 public:
  // Up to `max_concurrent` requests and as many commands run at the same time; others wait in a
  // queue.
  health_checker(std::string name, std::size_t max_concurrent,
                 std::shared_ptr<container_runtime> runtime);
  // Cancels the running requests: they fail. Commands end with the runtime.
  ~health_checker();

  void run(const std::string& container_id, const health_check& check, runtime::duration timeout,
           std::function<void(health_result)> done);

 private:
  struct commands;
  const std::shared_ptr<container_runtime> runtime_;
  const std::shared_ptr<commands> commands_;
  const runtime::unique_fd cancel_;  // becomes readable when the destructor runs
  lazy_pool pool_;
};

}  // namespace troupe::actors
