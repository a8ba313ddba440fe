// The task queue of an I/O thread: other threads post functions to call. Thread safe; it may
// outlive its thread (an actor may hold a responder when the server has stopped), then it drops
// them.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

namespace troupe::server {

class task_queue {
 public:
  using task = std::function<void()>;

  task_queue();
  task_queue(const task_queue&) = delete;
  task_queue& operator=(const task_queue&) = delete;
  ~task_queue();

  // Never blocks for long. False when it is closed. Unbounded by itself: each exchange has at most
  // two tasks here, an answer to be made and one that is there.
  bool post(task task);

  // -- for the thread ---------------------------------------------------------------------------

  // Becomes readable when a task arrives while the thread sleeps.
  int descriptor() const noexcept { return descriptor_; }
  // False: there are tasks, do not sleep.
  bool may_sleep();
  // Moves the tasks into `into`, which is empty.
  void take(std::vector<task>& into);
  // Drops what is there and all that comes.
  void close();

 private:
  const int descriptor_;
  std::mutex mutex_;
  std::vector<task> tasks_;
  bool sleeping_ = false;
  bool closed_ = false;
};

}  // namespace troupe::server
