// A pending call of an actor for the restart of another actor, which then has lost what it knew of
// its clients.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/actor.hpp"

namespace troupe::runtime {

// Owned by the actor that created it, like a timer: destroying it, or the actor, cancels it.
class restart_observer {
 public:
  restart_observer() = default;
  // Calls `action` in `self`, once, when `other` has restarted, after a crash or by a command. An
  // actor has one for each `other`: a new one replaces the previous.
  restart_observer(const actor& self, const actor_ref& other, unique_function<void()> action);
  restart_observer(restart_observer&& from) noexcept
      : cell_{std::exchange(from.cell_, nullptr)}, id_{std::exchange(from.id_, 0)} {}
  restart_observer& operator=(restart_observer&& from) noexcept;
  ~restart_observer() { cancel(); }

  void cancel() noexcept;

 private:
  actor_cell* cell_ = nullptr;
  std::uint64_t id_ = 0;
};

}  // namespace troupe::runtime
