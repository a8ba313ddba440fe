// The counters of one actor. The owner writes them with plain relaxed stores; any thread reads.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/detail/ticks.hpp"
#include "runtime/message.hpp"

namespace troupe::runtime {

class meter {
 public:
  // -- any thread ---

  void count_received() noexcept { received_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t received() const noexcept { return received_.load(std::memory_order_relaxed); }
  std::uint64_t handled() const noexcept { return handled_.load(std::memory_order_relaxed); }
  std::uint64_t waiting() const noexcept {
    // Read first: messages handled meanwhile were received before.
    const auto done = handled();
    const auto all = received();
    return all > done ? all - done : 0;
  }
  tick_count busy() const noexcept { return busy_.load(std::memory_order_relaxed); }
  tick_count longest() const noexcept { return longest_.load(std::memory_order_relaxed); }
  tick_count since() const noexcept { return since_.load(std::memory_order_relaxed); }
  // When the oldest waiting message was posted, or later; undefined if none waits.
  tick_count oldest() const noexcept { return oldest_.load(std::memory_order_relaxed); }
  void oldest(tick_count posted) noexcept { oldest_.store(posted, std::memory_order_relaxed); }
  // Null if the actor is idle.
  const message_type* current() const noexcept { return current_.load(std::memory_order_relaxed); }

  // -- the owner, around its messages ---

  void resumed() noexcept { since_.store(ticks(), std::memory_order_relaxed); }
  void handling(const message_type* type) noexcept {
    current_.store(type, std::memory_order_relaxed);
  }
  // One clock reading for each message: its end is the start of the next one.
  void handled_one() noexcept {
    handled_.store(handled() + 1, std::memory_order_relaxed);
    finished();
  }
  // For work other than messages.
  void finished() noexcept {
    const auto now = ticks();
    const auto begun = since();
    const auto spent = now > begun ? now - begun : 0;
    busy_.store(busy() + spent, std::memory_order_relaxed);
    if (spent > longest()) longest_.store(spent, std::memory_order_relaxed);
    since_.store(now, std::memory_order_relaxed);
    current_.store(nullptr, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> handled_{0};
  std::atomic<tick_count> busy_{0};
  std::atomic<tick_count> longest_{0};
  std::atomic<tick_count> since_{0};
  std::atomic<tick_count> oldest_{0};
  std::atomic<const message_type*> current_{nullptr};
};

}  // namespace troupe::runtime
