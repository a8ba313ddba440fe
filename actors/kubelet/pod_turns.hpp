// Jobs of a pod on a pool of threads: one at a time, in the order in which they were asked for;
// those of other pods run beside them. What a former life of a pod's worker asked for is thus done
// before the next life looks. Thread safe.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/worker_pool.hpp"

namespace troupe::actors {

class pod_turns {
 public:
  // The pool runs its jobs before this is destroyed. `limit`: jobs that wait for their turn.
  pod_turns(runtime::worker_pool& pool, std::size_t limit) : pool_{pool}, limit_{limit} {}

  // False: too much waits, and the job is not taken.
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
