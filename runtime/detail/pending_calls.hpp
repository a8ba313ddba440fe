// The pending calls of an actor: its timers and the handlers of its requests, found by id in O(1).
//
// Used only by the owner. Ids are never reused, so a deadline or reply that arrives after its call
// was cancelled finds nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/defaults.hpp"
#include "runtime/detail/timer_service.hpp"
#include "runtime/message.hpp"
#include "runtime/promise.hpp"
#include "runtime/unique_function.hpp"

namespace troupe::runtime {

using timer_action = unique_function<void()>;

struct pending_call {
  // No deadline: another actor triggers it (actor_cell::await_restart).
  static constexpr time_point no_deadline = time_point::max();

  timer_node node;
  std::variant<timer_action, reply_handler> action;
  time_point due;
  duration period{0};    // 0: it fires once
  runtime::cause cause;  // of the request, for its timeout
};

// The first moment after `now` that is a whole number of periods after `due`, at least
// one.
constexpr time_point next_on_grid(time_point due, duration period, time_point now) noexcept {
  const auto next = due + period;
  return next > now ? next : next + period * ((now - next) / period + 1);
}

// The firing time of a timer that is set at `now`. Timers with long delays fire on a common grid,
// slightly late: thousands of deadlines then wake the clock, the actors and the disk together, not
// one by one.
constexpr time_point timer_due(time_point now, duration delay) noexcept {
  const auto due = now + delay;
  if (delay < defaults::coalesced_delay) return due;
  const auto late = due.time_since_epoch() % defaults::coalesced_grid;
  return late == duration::zero() ? due : due + (defaults::coalesced_grid - late);
}

class pending_calls {
 public:
  explicit pending_calls(timer_service& timers) : timers_{timers} {}
  ~pending_calls() { clear(); }

  // Also arms the deadline `call.due`; the returned id is not 0.
  std::uint64_t add(timer_target& owner, std::unique_ptr<pending_call> call);
  // Null if it is not pending.
  pending_call* find(std::uint64_t id) noexcept;
  // Removes and disarms it; null if it is not pending.
  std::unique_ptr<pending_call> take(std::uint64_t id) noexcept;
  void rearm(pending_call& call, time_point due);
  template <class F>
  void each(F visit) const {
    for (const auto& call : slots_)
      if (call) visit(*call);
  }
  // Cancels all; destructors of the captured objects may call back into this object.
  void clear() noexcept;

 private:
  timer_service& timers_;
  std::vector<std::unique_ptr<pending_call>> slots_;
  std::vector<std::uint32_t> free_;
  std::uint32_t generation_ = 0;
};

}  // namespace troupe::runtime
