// Counters of the messages that one actor has received and sent, by type.
//
// The owner writes with relaxed stores and appends an entry for each new type; entries live as long
// as the actor, so that other threads can read them concurrently.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "runtime/detail/ticks.hpp"
#include "runtime/observation.hpp"

namespace troupe::runtime {

class actor_stats {
 public:
  actor_stats() = default;
  actor_stats(const actor_stats&) = delete;
  actor_stats& operator=(const actor_stats&) = delete;
  ~actor_stats();

  // -- the owner ---

  void sent(const message_type& type) { add(of(type).sent, 1); }
  void received(const message_type& type, tick_count began, tick_count took, cause cause);

  // -- any thread ---

  std::vector<message_counts> read(double nanoseconds_per_tick) const;

 private:
  struct entry {
    const message_type* type;
    entry* next;
    std::atomic<std::uint64_t> received{0};
    std::atomic<std::uint64_t> sent{0};
    std::atomic<tick_count> busy{0};
    std::atomic<tick_count> longest{0};
    std::atomic<tick_count> last{0};
    std::atomic<std::uint64_t> request{0};
    std::atomic<std::uint64_t> revision{0};
    std::array<std::atomic<std::uint32_t>, time_classes.size() + 1> times{};
  };

  // There is only one writer: no atomic read-modify-write is needed.
  template <class T>
  static void add(std::atomic<T>& to, std::type_identity_t<T> count) noexcept {
    to.store(static_cast<T>(to.load(std::memory_order_relaxed) + count), std::memory_order_relaxed);
  }
  entry& of(const message_type& type);

  std::atomic<entry*> first_{nullptr};
};

}  // namespace troupe::runtime
