#include "server/flow_control/key_counts.hpp"

#include <algorithm>
#include <functional>
#include <random>

namespace troupe::server {
namespace {

std::uint64_t seed() noexcept {
  static const std::uint64_t drawn = [] {
    std::random_device random;
    return (static_cast<std::uint64_t>(random()) << 32) | random();
  }();
  return drawn;
}

}  // namespace

std::uint64_t key_counts::key_of(std::string_view name) noexcept {
  return key_of(std::hash<std::string_view>{}(name));
}

// The finalizer of SplitMix64, in which each bit affects all.
std::uint64_t key_counts::key_of(std::uint64_t number) noexcept {
  number ^= seed();
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9U;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebU;
  return number ^ (number >> 31);
}

void key_counts::add(std::uint64_t key, std::uint64_t amount) noexcept {
  first_[key % row_size].fetch_add(amount, std::memory_order_relaxed);
  second_[(key >> row_bits) % row_size].fetch_add(amount, std::memory_order_relaxed);
}

void key_counts::subtract(std::uint64_t key, std::uint64_t amount) noexcept {
  first_[key % row_size].fetch_sub(amount, std::memory_order_relaxed);
  second_[(key >> row_bits) % row_size].fetch_sub(amount, std::memory_order_relaxed);
}

std::uint64_t key_counts::of(std::uint64_t key) const noexcept {
  return std::min(first_[key % row_size].load(std::memory_order_relaxed),
                  second_[(key >> row_bits) % row_size].load(std::memory_order_relaxed));
}

}  // namespace troupe::server
