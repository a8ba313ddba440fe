// Ranges of addresses as users write them: "10.0.0.0/8", "2001:db8::/64".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/values/syntax.hpp"

namespace troupe::api {

class cidr {
 public:
  // Nothing where the text is no range. Bits beyond the prefix are kept.
  static std::optional<cidr> parse(std::string_view text);

  bool is_v6() const noexcept { return v6_; }
  int prefix_bits() const noexcept { return prefix_bits_; }
  // Its bits beyond the prefix are zero, and it is written in the shortest way.
  bool is_canonical() const noexcept { return canonical_; }
  // Whether all addresses of `other` are in it.
  bool contains(const cidr& other) const noexcept;
  // The first and the last address as numbers; nothing for IPv6.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> v4_range() const noexcept;
  std::string text() const;
  bool operator==(const cidr&) const = default;
  // Its address without the prefix.
  std::string address() const;
  // In network order; of IPv4 the first four.
  const std::array<std::uint8_t, 16>& bytes() const noexcept { return bytes_; }

  // It divides into equal ranges of that prefix, which is longer by 0 to 31 bits. Their numbers are
  // counted from its first address.
  cidr part(int prefix_bits, std::uint32_t number) const noexcept;
  // In which of these `other`, which is in this range, begins.
  std::uint32_t part_number(int prefix_bits, const cidr& other) const noexcept;

 private:
  std::array<std::uint8_t, 16> bytes_{};
  int prefix_bits_ = 0;
  bool v6_ = false;
  bool canonical_ = false;
};

// In the words of Kubernetes.
complaints check_cidr(std::string_view s);
// The one way in which an address is written.
std::optional<std::string> canonical_ip(std::string_view s);
// "", "IPv4", "IPv6": of what family an address is; empty for none.
std::string_view ip_family(std::string_view s);

}  // namespace troupe::api
