// The dispatcher of a real system: one FIFO queue shared by all worker
// threads.
//
// At most one sleeping thread is being woken at any time; if it finds more than one job when it
// wakes, it wakes the next. A burst of jobs thus costs one notification, not one for each. Measured
// against CAF's policies in docs/decisions/0004-our-own-actors-on-caf.md.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/detail/dispatcher.hpp"

namespace troupe::runtime {

class run_queue final : public dispatcher {
 public:
  ~run_queue() override { stop(); }

  void push(caf::resumable* job) override;
  void start(caf::actor_system& system, std::size_t threads) override;
  void stop() override;

 private:
  class worker;

  // Null if the queue is closed and empty.
  caf::resumable* pop();
  // Requires the lock. True: the caller must notify one thread after unlocking.
  bool call_one() noexcept;

  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<caf::resumable*> jobs_;
  std::size_t sleeping_ = 0;
  std::size_t woken_ = 0;  // sleeping threads that were notified but are not awake yet
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace troupe::runtime
