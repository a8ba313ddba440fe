#include "runtime/restart_observer.hpp"

#include "runtime/detail/actor_cell.hpp"

namespace troupe::runtime {

restart_observer::restart_observer(const actor& self, const actor_ref& other,
                                   unique_function<void()> action)
    : cell_{actor_cell::of(self)} {
  id_ = cell_->await_restart(other, std::move(action));
  cell_->retain();
}

restart_observer& restart_observer::operator=(restart_observer&& from) noexcept {
  if (this == &from) return *this;
  cancel();
  cell_ = std::exchange(from.cell_, nullptr);
  id_ = std::exchange(from.id_, 0);
  return *this;
}

void restart_observer::cancel() noexcept {
  if (auto* owner = std::exchange(cell_, nullptr)) {
    owner->cancel(id_);
    owner->release();
  }
}

}  // namespace troupe::runtime
