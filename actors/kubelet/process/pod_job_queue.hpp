// Jobs of a pod on a pool of threads: one at a time, in the order of `post`; those of other pods
// run in parallel. Thus the jobs of a crashed pod worker are done before its next life reads the
// disk. Thread safe.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/worker_pool.hpp"

namespace troupe::actors {

class pod_job_queue {
 public:
  // The pool runs its jobs before this is destroyed. `limit`: jobs that wait for their turn.
  pod_job_queue(runtime::worker_pool& pool, std::size_t limit) : pool_{pool}, limit_{limit} {}

  // False: too many jobs wait, and this one is not taken.
  bool post(const std::string& pod, std::function<void()> job);

 private:
  void run(const std::string& pod);

  runtime::worker_pool& pool_;
  const std::size_t limit_;
  std::mutex mutex_;
  std::size_t waiting_ = 0;
  // Of pods that have a thread, or are to get one.
  std::unordered_map<std::string, std::deque<std::function<void()>>> jobs_;
};

}  // namespace troupe::actors
