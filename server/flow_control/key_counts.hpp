// Approximate current amounts of many keys (users, addresses) in constant memory: a count-min
// sketch of two rows.
//
// An amount is never too small. It is too large for a key that collides with busy keys in both
// rows, which happens to one pair of keys in a million; the seed is random for each process, so
// collisions cannot be chosen. Thread safe and lock-free.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace troupe::server {

class key_counts {
 public:
  static std::uint64_t key_of(std::string_view name) noexcept;
  // Mixes badly distributed numbers, such as addresses.
  static std::uint64_t key_of(std::uint64_t number) noexcept;

  void add(std::uint64_t key, std::uint64_t amount) noexcept;
  // `amount` must have been added before.
  void subtract(std::uint64_t key, std::uint64_t amount) noexcept;
  std::uint64_t of(std::uint64_t key) const noexcept;

 private:
  static constexpr std::size_t row_bits = 10;
  static constexpr std::size_t row_size = 1u << row_bits;
  using row = std::array<std::atomic<std::uint64_t>, row_size>;

  row first_{};
  row second_{};
};

}  // namespace troupe::server
