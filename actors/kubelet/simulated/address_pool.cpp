#include "actors/kubelet/simulated/address_pool.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace troupe::actors {

namespace {

std::uint32_t hash_of(const std::string& pod) {
  return static_cast<std::uint32_t>(std::hash<std::string>{}(pod)) | 1u;
}

std::size_t index_of(int address) {
  return static_cast<std::size_t>(address - 1);
}

}  // namespace

void address_pool::keep(const std::string& pod, int address) {
  pods_.resize(std::max(pods_.size(), index_of(address) + 1));
  pods_[index_of(address)] = hash_of(pod);
}

void address_pool::release(const std::string& pod, int address) {
  if (is_used(address) && pods_[index_of(address)] == hash_of(pod)) pods_[index_of(address)] = 0;
}

bool address_pool::is_used(int address) const {
  return index_of(address) < pods_.size() && pods_[index_of(address)] != 0;
}

int address_pool::next() {
  const auto following = [](int address) { return address % size + 1; };
  auto found = following(last_);
  for (int tried = 1; tried < size && is_used(found); ++tried)
    found = following(found);
  if (is_used(found)) found = following(last_);
  return last_ = found;
}

}  // namespace troupe::actors
