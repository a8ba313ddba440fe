// Runs health checks on its own threads. Thread safe; never blocks the caller. The threads start
// with the first check: a node whose pods have no probes has none.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "actors/kubelet/health/health_check.hpp"
#include "actors/kubelet/process/container_dir.hpp"
#include "runtime/clock.hpp"
#include "runtime/unique_fd.hpp"
#include "runtime/worker_pool.hpp"

namespace troupe::actors {

// Runs a check and calls the function once with the result, on a thread that must not be blocked.
// The one of a simulation answers at once.
using health_check_runner =
    std::function<void(const container_dir&, const health_check&, runtime::duration timeout,
                       std::function<void(health_result)>)>;

class health_checker {
 public:
  // `threads` checks run at a time; the others wait in a queue. `program` as in process_runtime.
  health_checker(std::string name, std::size_t threads, std::string program);
  // Cancels the running checks; they fail.
  ~health_checker();

  void run(const container_dir& dir, const health_check& check, runtime::duration timeout,
           std::function<void(health_result)> done);

 private:
  const std::string name_;
  const std::size_t threads_;
  const std::string program_;
  const runtime::unique_fd cancel_;  // can be read when all is to end
  std::once_flag begun_;
  std::unique_ptr<runtime::worker_pool> pool_;
};

}  // namespace troupe::actors
