// An address range in CIDR notation: "10.0.0.0/8", "2001:db8::/64".
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
  // Returns nullopt for invalid text. Keeps bits beyond the prefix.
  static std::optional<cidr> parse(std::string_view text);

  bool is_v6() const noexcept { return v6_; }
  int prefix_bits() const noexcept { return prefix_bits_; }
  // The bits beyond the prefix are zero, and the text was in its shortest form.
  bool is_canonical() const noexcept { return canonical_; }
  // Whether it contains all addresses of `other`.
  bool contains(const cidr& other) const noexcept;
  std::string text() const;
  bool operator==(const cidr&) const = default;
  // The address without the prefix.
  std::string address() const;
  // In network order; for IPv4 the first four.
  const std::array<std::uint8_t, 16>& bytes() const noexcept { return bytes_; }

  // Divides the range into equal parts of that prefix, which is longer by 0 to 31 bits, and returns
  // the part of that number, counted from the first address.
  cidr part(int prefix_bits, std::uint32_t number) const noexcept;
  // The number of the part in which `other`, which must be in this range, begins.
  std::uint32_t part_number(int prefix_bits, const cidr& other) const noexcept;

 private:
  std::array<std::uint8_t, 16> bytes_{};
  int prefix_bits_ = 0;
  bool v6_ = false;
  bool canonical_ = false;
};

// Errors in the wording of Kubernetes.
error_messages check_cidr(std::string_view s);
// The canonical text of an address.
std::optional<std::string> canonical_ip(std::string_view s);
// The family of an address: "IPv4" or "IPv6"; empty if it is not an address.
std::string_view ip_family(std::string_view s);
// Whether a canonical address is one of 127.0.0.0/8 or ::1.
bool is_loopback_ip(std::string_view s);

}  // namespace troupe::api
