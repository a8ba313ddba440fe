// Asks containers how they are, on threads of its own. Thread safe; nothing blocks the caller. The
// threads are started with the first question: a node whose pods have no probes has none.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "actors/kubelet/container_dir.hpp"
#include "actors/kubelet/health_question.hpp"
#include "actors/kubelet/unique_fd.hpp"
#include "runtime/clock.hpp"
#include "runtime/worker_pool.hpp"

namespace troupe::actors {

// Asks, and calls the function with the answer once, on a thread that must not be blocked. What a
// simulation of probes puts in its place answers at once.
using health_asker =
    std::function<void(const container_dir&, const health_question&, runtime::duration timeout,
                       std::function<void(health_answer)>)>;

class health_checks {
 public:
  // `threads` questions are asked at a time; a question that waits longer than its turn is asked
  // late. `program` as in process_runtime.
  health_checks(std::string name, std::size_t threads, std::string program);
  // Ends what is being asked; it has failed then.
  ~health_checks();

  void ask(const container_dir& dir, const health_question& question, runtime::duration timeout,
           std::function<void(health_answer)> done);

 private:
  const std::string name_;
  const std::size_t threads_;
  const std::string program_;
  const unique_fd cancel_;  // can be read when all is to end
  std::once_flag begun_;
  std::unique_ptr<runtime::worker_pool> pool_;
};

}  // namespace troupe::actors
