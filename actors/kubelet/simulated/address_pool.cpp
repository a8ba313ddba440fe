#include "actors/kubelet/simulated/address_pool.hpp"

#include <cstddef>

namespace troupe::actors {

void address_pool::keep(const std::string& pod, int address) {
  release(pod);
  addresses_.emplace(pod, address);
  ++pods_[static_cast<std::size_t>(address)];
}

void address_pool::release(const std::string& pod) {
  const auto found = addresses_.find(pod);
  if (found == addresses_.end()) return;
  --pods_[static_cast<std::size_t>(found->second)];
  addresses_.erase(found);
}

int address_pool::next() {
  const auto following = [](int address) { return address % size + 1; };
  auto found = following(last_);
  for (int tried = 1; tried < size && pods_[static_cast<std::size_t>(found)] != 0; ++tried)
    found = following(found);
  if (pods_[static_cast<std::size_t>(found)] != 0) found = following(last_);
  return last_ = found;
}

}  // namespace troupe::actors
