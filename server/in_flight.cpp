#include "server/in_flight.hpp"

namespace troupe::server {

in_flight::in_flight(std::size_t reads, std::size_t writes)
    : reads_{std::make_shared<counter>()}, writes_{std::make_shared<counter>()} {
  reads_->limit = reads;
  writes_->limit = writes;
}

std::shared_ptr<void> in_flight::enter(bool mutates) const {
  const auto& counter = mutates ? writes_ : reads_;
  if (counter->now.fetch_add(1, std::memory_order_relaxed) >= counter->limit) {
    counter->now.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  return {counter.get(),
          [counter](void*) { counter->now.fetch_sub(1, std::memory_order_relaxed); }};
}

std::size_t in_flight::reads() const noexcept {
  return reads_->now;
}
std::size_t in_flight::writes() const noexcept {
  return writes_->now;
}

}  // namespace troupe::server
