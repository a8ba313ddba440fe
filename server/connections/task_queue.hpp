// The task queue of an I/O thread: other threads post functions for it to call. Thread safe. It may
// outlive its thread (an actor may hold a responder when the server has stopped); it then drops
// tasks.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "runtime/unique_fd.hpp"

namespace troupe::server {

class task_queue {
 public:
  using task = std::function<void()>;

  task_queue();
  task_queue(const task_queue&) = delete;
  task_queue& operator=(const task_queue&) = delete;

  // Does not block for long. Returns false when closed. Not bounded itself: each exchange has at
  // most two tasks here.
  bool post(task task);

  // -- for the thread ---------------------------------------------------------------------------

  // Becomes readable when a task is posted while the thread sleeps.
  int descriptor() const noexcept { return descriptor_.get(); }
  // Returns false if there are tasks: do not sleep.
  bool may_sleep();
  // Moves the tasks into `into`, which is empty.
  void take(std::vector<task>& into);
  // Drops all tasks, also later ones.
  void close();

 private:
  const runtime::unique_fd descriptor_;
  std::mutex mutex_;
  std::vector<task> tasks_;
  bool sleeping_ = false;
  bool closed_ = false;
};

}  // namespace troupe::server
