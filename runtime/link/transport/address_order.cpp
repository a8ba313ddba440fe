#include "runtime/link/transport/address_order.hpp"

#include <algorithm>

namespace troupe::runtime::link {

void address_order::fill(const std::vector<address>& known) {
  left_ = known;
  std::shuffle(left_.begin(), left_.end(), random_);
  const auto last = last_ ? std::find(left_.begin(), left_.end(), *last_) : left_.end();
  if (last != left_.end()) std::rotate(left_.begin(), last, last + 1);
}

std::optional<address> address_order::next(const std::vector<address>& known) {
  // Addresses that are no longer known are skipped.
  std::erase_if(left_, [&](const address& each) {
    return std::find(known.begin(), known.end(), each) == known.end();
  });
  if (left_.empty()) fill(known);
  if (left_.empty()) return std::nullopt;
  last_ = left_.back();
  left_.pop_back();
  return last_;
}

}  // namespace troupe::runtime::link
