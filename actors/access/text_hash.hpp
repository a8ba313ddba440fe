// FNV-1a over parts, equal to the hash of their concatenation. Collisions can be forged: a match
// must be verified.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::actors::access {

class text_hash {
 public:
  text_hash& add(std::string_view text) noexcept {
    for (const unsigned char c : text)
      state_ = (state_ ^ c) * 0x100000001b3u;
    return *this;
  }
  std::uint64_t value() const noexcept { return state_; }
  // One of 64 bits.
  std::uint64_t bit() const noexcept { return std::uint64_t{1} << ((state_ ^ state_ >> 32) & 63); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace troupe::actors::access
