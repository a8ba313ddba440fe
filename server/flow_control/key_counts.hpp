// How much each of many keys (users, addresses) has at this moment, in a fixed amount of memory: a
// count-min sketch of two rows.
//
// A count is never too small. It is too large for a key that meets busy ones in both rows, which is
// one pair of keys in a million; the seed is the process's own, so nobody can choose whom to meet.
// Thread safe, without locks.
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
  // Mixes what is spread badly, such as addresses.
  static std::uint64_t key_of(std::uint64_t number) noexcept;

  void add(std::uint64_t key, std::uint64_t amount) noexcept;
  // Of what was added before.
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
