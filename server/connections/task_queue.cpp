#include "server/connections/task_queue.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace troupe::server {

task_queue::task_queue() : descriptor_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
  if (!descriptor_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

bool task_queue::post(task task) {
  const std::lock_guard lock{mutex_};
  if (closed_) return false;
  tasks_.push_back(std::move(task));
  if (!sleeping_) return true;
  sleeping_ = false;
  const std::uint64_t one = 1;
  // Fails only if the counter is full, and then the thread wakes anyway.
  [[maybe_unused]] const auto written = ::write(descriptor_.get(), &one, sizeof one);
  return true;
}

bool task_queue::may_sleep() {
  const std::lock_guard lock{mutex_};
  sleeping_ = tasks_.empty();
  return sleeping_;
}

void task_queue::take(std::vector<task>& into) {
  const std::lock_guard lock{mutex_};
  sleeping_ = false;
  tasks_.swap(into);
}

void task_queue::close() {
  std::vector<task> dropped;
  const std::lock_guard lock{mutex_};
  closed_ = true;
  tasks_.swap(dropped);
}

}  // namespace troupe::server
