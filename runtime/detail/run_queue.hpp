// The dispatcher of a real system: one queue, first come first served, shared by all worker
// threads.
//
// At most one sleeping thread is being called at any time; when it wakes and finds more than one
// job it calls the next. A burst of jobs thus costs one call, not one for each. Measured against
// CAF's policies in docs/decisions/0004-our-own-actors-on-caf.md.
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

  // Null when the queue is closed and empty.
  caf::resumable* pop();
  // Needs the lock. True: the caller must notify one thread after releasing it.
  bool call_one() noexcept;

  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<caf::resumable*> jobs_;
  std::size_t sleeping_ = 0;
  std::size_t woken_ = 0;  // of those that sleep: called, but not yet awake
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace troupe::runtime
