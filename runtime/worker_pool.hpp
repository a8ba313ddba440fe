// Threads for blocking calls: disk, processes, name lookups. An actor posts a job and gets the
// result by message. If a job throws, the error is logged and the pool continues.
//
// A simulation has no such threads: its code uses interfaces for disk and processes whose simulated
// implementations answer at once.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "runtime/unique_function.hpp"

namespace troupe::runtime {

class worker_pool {
 public:
  // `name` is shown in thread lists. At most `queue_limit` jobs wait. Never throws if a thread
  // cannot be started: missing threads are retried with later jobs.
  worker_pool(std::string name, std::size_t threads, std::size_t queue_limit);
  // Runs the queued jobs, then joins the threads.
  ~worker_pool();

  // Returns false and rejects the job if the queue is full, the pool is closing, or it has no
  // thread and cannot start one.
  bool post(unique_function<void()> job);
  std::size_t queued() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::runtime
