#include "runtime/actor_ref.hpp"

#include "runtime/detail/host.hpp"

namespace troupe::runtime {

actor_ref::actor_ref(const actor_ref& other) noexcept : cell_{other.cell_} {
  if (cell_ != nullptr) access::host_of(*this)->retain();
}

actor_ref::~actor_ref() {
  if (cell_ != nullptr) access::host_of(*this)->release();
}

std::uint64_t actor_ref::id() const noexcept {
  return cell_ != nullptr ? access::host_of(*this)->id() : 0;
}

bool actor_ref::send(message content, cause why) const {
  if (cell_ == nullptr) return false;
  return access::host_of(*this)->post(std::move(content), {}, why, 0) == host::posted::taken;
}

}  // namespace troupe::runtime
