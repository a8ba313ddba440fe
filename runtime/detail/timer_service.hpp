// All deadlines of a system in one heap: adding and removing take O(log n) and one short lock.
//
// A node is owned by its creator, who removes it before its destruction. Expired nodes are
// collected under the lock and delivered without it: neither callbacks nor destructors of actors
// ever run under the lock, so the clock cannot deadlock with itself. In a simulation the thread is
// not started; the simulation calls `fire` as it advances time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/clock.hpp"

namespace troupe::runtime {

// The receiver of an expired deadline.
class timer_target {
 public:
  // Called under the lock of the service: keeps the target alive until `due` has returned.
  virtual void retain() noexcept = 0;
  // Called without the lock, on the clock's thread; releases what `retain` acquired.
  virtual void due(std::uint64_t id) noexcept = 0;

 protected:
  ~timer_target() = default;
};

struct timer_node {
  timer_target* target = nullptr;
  std::uint64_t id = 0;
  std::size_t position = 0;  // in the heap, from 1; 0: not pending. Guarded by the service's lock
};

class timer_service {
 public:
  explicit timer_service(const clock& time) : time_{time} {}
  timer_service(const timer_service&) = delete;
  timer_service& operator=(const timer_service&) = delete;
  ~timer_service() { stop(); }

  void start();
  // Stops the thread; pending nodes stay and never fire.
  void stop();

  // The node must not be pending. Nodes with equal deadlines fire in the order of add().
  void add(timer_node& node, time_point due);
  // Does nothing if the node is not pending (it may be firing right now).
  void remove(timer_node& node) noexcept;

  // Delivers all deadlines up to `now`; returns their number.
  std::size_t fire(time_point now);
  // The earliest deadline.
  std::optional<time_point> next() const;
  std::size_t size() const;

 private:
  struct entry {
    time_point due;
    std::uint64_t sequence;
    timer_node* node;
    bool operator<(const entry& other) const noexcept {
      return due != other.due ? due < other.due : sequence < other.sequence;
    }
  };
  struct expired {
    timer_target* target;
    std::uint64_t id;
  };

  void run();
  // Requires the lock: takes at most one batch out of the heap.
  void collect(time_point now, std::vector<expired>& batch);
  void erase(std::size_t position) noexcept;
  void place(std::size_t position, const entry& e) noexcept;
  void sift_up(std::size_t position) noexcept;
  void sift_down(std::size_t position) noexcept;

  const clock& time_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<entry> heap_;
  std::uint64_t sequence_ = 0;
  // The thread needs no notification for later deadlines: it is awake, or wakes at this time.
  time_point wakes_at_ = time_point::min();
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace troupe::runtime
