// Jobs on a small pool of threads, in order for each key (the uid of a pod): one at a time, as they
// were posted; those of other keys run in parallel. Thus the jobs of a crashed pod worker are done
// before its next life reads the disk. Thread safe.
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
  // `limit`: jobs that wait for their turn. The destructor runs what is queued.
  job_queue(std::string name, std::size_t threads, std::size_t limit)
      : limit_{limit}, pool_{std::move(name), threads, limit} {}

  // False: too many jobs wait, and this one is not taken. Without a key it follows no other.
  bool post(const std::string& key, std::function<void()> job);
  bool post(std::function<void()> job) { return pool_.post(std::move(job)); }

 private:
  void run(const std::string& key);

  const std::size_t limit_;
  std::mutex mutex_;
  std::size_t waiting_ = 0;
  // Of keys that have a thread, or are to get one.
  std::unordered_map<std::string, std::deque<std::function<void()>>> jobs_;
  runtime::worker_pool pool_;  // destroyed first: its jobs use the rest
};

}  // namespace troupe::actors
