#include "runtime/detail/pending_calls.hpp"

namespace troupe::runtime {

namespace {

// The low half of an id is the slot, the high half the generation.
std::size_t slot_of(std::uint64_t id) noexcept {
  return static_cast<std::uint32_t>(id);
}

}  // namespace

std::uint64_t pending_calls::add(timer_target& owner, std::unique_ptr<pending_call> call) {
  std::uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  if (++generation_ == 0) generation_ = 1;
  auto& pending = *(slots_[slot] = std::move(call));
  pending.node.target = &owner;
  pending.node.id = std::uint64_t{generation_} << 32 | slot;
  if (pending.due != pending_call::no_deadline) timers_.add(pending.node, pending.due);
  return pending.node.id;
}

pending_call* pending_calls::find(std::uint64_t id) noexcept {
  const auto slot = slot_of(id);
  if (slot >= slots_.size() || !slots_[slot] || slots_[slot]->node.id != id) return nullptr;
  return slots_[slot].get();
}

std::unique_ptr<pending_call> pending_calls::take(std::uint64_t id) noexcept {
  if (find(id) == nullptr) return nullptr;
  const auto slot = slot_of(id);
  timers_.remove(slots_[slot]->node);
  free_.push_back(static_cast<std::uint32_t>(slot));
  return std::move(slots_[slot]);
}

void pending_calls::rearm(pending_call& call, time_point due) {
  call.due = due;
  timers_.add(call.node, due);
}

void pending_calls::clear() noexcept {
  auto slots = std::exchange(slots_, {});
  free_.clear();
  for (auto& call : slots) {
    if (!call) continue;
    timers_.remove(call->node);
    call.reset();
  }
}

}  // namespace troupe::runtime
