// Runs jobs on a small thread pool, in order for each key (the uid of a pod): jobs of one key run
// one at a time, those of different keys in parallel. So the jobs of a crashed pod worker are done
// before the restarted worker reads the disk. Thread safe.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/worker_pool.hpp"

namespace troupe::actors {

class job_queue {
 public:
  // `limit`: maximum number of waiting jobs. The destructor runs the queued jobs.
  job_queue(std::string name, std::size_t threads, std::size_t limit)
      : limit_{limit}, pool_{std::move(name), threads, limit} {}

  // Returns false if the queue is full: the job is not run. A job without a key has no order.
  bool post(const std::string& key, std::function<void()> job);
  bool post(std::function<void()> job) { return pool_.post(std::move(job)); }

 private:
  void run(const std::string& key);

  const std::size_t limit_;
  std::mutex mutex_;
  std::size_t waiting_ = 0;
  // The pending jobs of each key that has or waits for a thread.
  std::unordered_map<std::string, std::deque<std::function<void()>>> jobs_;
  runtime::worker_pool pool_;  // destroyed first: its jobs use the rest
};

}  // namespace troupe::actors
