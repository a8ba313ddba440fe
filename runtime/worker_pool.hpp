// Threads for blocking calls: disk, processes, name look-ups. An actor posts work here and is told
// of the outcome by message. A job that throws is logged; the pool goes on.
//
// A simulation has no such threads: code that runs in one takes its disk or its processes from an
// interface whose simulated form answers at once.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "runtime/unique_function.hpp"

namespace troupe::runtime {

class worker_pool {
 public:
  // `name` shows in thread lists. At most `queue_limit` jobs wait. Never throws for want of a
  // thread: those that the machine does not give are tried again with the jobs that come.
  worker_pool(std::string name, std::size_t threads, std::size_t queue_limit);
  // Runs the queued work, then joins.
  ~worker_pool();

  // False when the queue is full, the pool is closing, or it has no thread and gets none: the job
  // is not taken.
  bool post(unique_function<void()> job);
  std::size_t queued() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::runtime
