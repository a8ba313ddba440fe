#include "runtime/actor_ref.hpp"

#include "runtime/detail/actor_cell.hpp"

namespace troupe::runtime {

actor_ref::actor_ref(const actor_ref& other) noexcept : cell_{other.cell_} {
  if (cell_ != nullptr) access::cell_of(*this)->retain();
}

actor_ref::~actor_ref() {
  if (cell_ != nullptr) access::cell_of(*this)->release();
}

std::uint64_t actor_ref::id() const noexcept {
  return cell_ != nullptr ? access::cell_of(*this)->id() : 0;
}

bool actor_ref::send(message content, cause cause) const {
  if (cell_ == nullptr) return false;
  return access::cell_of(*this)->post(std::move(content), {}, cause, 0) ==
         actor_cell::post_result::taken;
}

}  // namespace troupe::runtime
