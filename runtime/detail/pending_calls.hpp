// The pending calls of an actor: its timers and the answers to its requests, found by id in O(1).
//
// Used by the owner alone. An id is never used again, so that a deadline or an answer that comes
// after its call was cancelled finds nothing.
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
  // Nothing is armed: another actor makes it due (actor_cell::await_restart).
  static constexpr time_point no_deadline = time_point::max();

  timer_node node;
  std::variant<timer_action, reply_handler> action;
  time_point due;
  duration period{0};    // 0: it fires once
  runtime::cause cause;  // of the request, for its time-out
};

// The first moment after `now` that is a whole number of periods after `due`, or the period after
// `due` when that has not come yet.
constexpr time_point next_on_grid(time_point due, duration period, time_point now) noexcept {
  const auto next = due + period;
  return next > now ? next : next + period * ((now - next) / period + 1);
}

// When a timer of an actor fires that is set at `now`. Those with long delays fire on a common
// grid, a little late: the deadlines of thousands of actors then wake the clock, the actors and the
// disk together, not one by one.
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

  // Arms the deadline `call.due` as well; the id is not 0.
  std::uint64_t add(timer_target& owner, std::unique_ptr<pending_call> call);
  // Null when it is not pending.
  pending_call* find(std::uint64_t id) noexcept;
  // Takes it out and disarms it; null when it is not pending.
  std::unique_ptr<pending_call> take(std::uint64_t id) noexcept;
  void rearm(pending_call& call, time_point due);
  template <class F>
  void each(F visit) const {
    for (const auto& call : slots_)
      if (call) visit(*call);
  }
  // Cancels all; destroying what they hold may come back here.
  void clear() noexcept;

 private:
  timer_service& timers_;
  std::vector<std::unique_ptr<pending_call>> slots_;
  std::vector<std::uint32_t> free_;
  std::uint32_t generation_ = 0;
};

}  // namespace troupe::runtime
