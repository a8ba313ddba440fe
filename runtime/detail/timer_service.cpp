#include "runtime/detail/timer_service.hpp"

#include <pthread.h>

#include <utility>

#include "runtime/defaults.hpp"

namespace troupe::runtime {

namespace {

// Four children for each node: half the levels of a binary heap, and siblings share a cache line.
constexpr std::size_t arity = 4;

}  // namespace

void timer_service::start() {
  thread_ = std::thread{[this] { run(); }};
  pthread_setname_np(thread_.native_handle(), "actors/clock");
}

void timer_service::stop() {
  {
    std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void timer_service::add(timer_node& node, time_point due) {
  bool wake = false;
  {
    std::lock_guard lock{mutex_};
    heap_.push_back({due, ++sequence_, &node});
    node.position = heap_.size();
    sift_up(heap_.size() - 1);
    wake = due < wakes_at_;
    if (wake) wakes_at_ = due;
  }
  if (wake) changed_.notify_one();
}

void timer_service::remove(timer_node& node) noexcept {
  std::lock_guard lock{mutex_};
  if (node.position != 0) erase(node.position - 1);
}

std::size_t timer_service::fire(time_point now) {
  std::size_t count = 0;
  std::vector<expired> batch;
  do {
    batch.clear();
    {
      std::lock_guard lock{mutex_};
      collect(now, batch);
    }
    for (const auto& e : batch)
      e.target->due(e.id);
    count += batch.size();
  } while (batch.size() == defaults::timer_batch);
  return count;
}

std::optional<time_point> timer_service::next() const {
  std::lock_guard lock{mutex_};
  if (heap_.empty()) return std::nullopt;
  return heap_.front().due;
}

std::size_t timer_service::size() const {
  std::lock_guard lock{mutex_};
  return heap_.size();
}

void timer_service::run() {
  std::vector<expired> batch;
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    wakes_at_ = time_point::min();
    const auto now = time_.now();
    if (!heap_.empty() && heap_.front().due <= now) {
      collect(now, batch);
      lock.unlock();
      for (const auto& e : batch)
        e.target->due(e.id);
      batch.clear();
      lock.lock();
    } else if (heap_.empty()) {
      wakes_at_ = time_point::max();
      changed_.wait(lock);
    } else {
      wakes_at_ = heap_.front().due;
      changed_.wait_until(lock, wakes_at_);
    }
  }
}

void timer_service::collect(time_point now, std::vector<expired>& batch) {
  while (!heap_.empty() && heap_.front().due <= now && batch.size() < defaults::timer_batch) {
    const auto* node = heap_.front().node;
    node->target->retain();
    batch.push_back({node->target, node->id});
    erase(0);
  }
}

void timer_service::erase(std::size_t position) noexcept {
  heap_[position].node->position = 0;
  const auto last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) return;
  place(position, last);
  sift_up(position);
  sift_down(last.node->position - 1);
}

void timer_service::place(std::size_t position, const entry& e) noexcept {
  heap_[position] = e;
  e.node->position = position + 1;
}

void timer_service::sift_up(std::size_t position) noexcept {
  const auto moving = heap_[position];
  while (position > 0) {
    const auto parent = (position - 1) / arity;
    if (!(moving < heap_[parent])) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, moving);
}

void timer_service::sift_down(std::size_t position) noexcept {
  const auto moving = heap_[position];
  for (;;) {
    auto least = position * arity + 1;
    if (least >= heap_.size()) break;
    const auto end = std::min(least + arity, heap_.size());
    for (auto child = least + 1; child < end; ++child) {
      if (heap_[child] < heap_[least]) least = child;
    }
    if (!(heap_[least] < moving)) break;
    place(position, heap_[least]);
    position = least;
  }
  place(position, moving);
}

}  // namespace troupe::runtime
