// IPv4 addresses as numbers, and sets of numbers as disjoint, non-adjacent ranges, as nft's
// interval sets require. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::actors::policies {

using ipv4 = std::uint32_t;

// Returns nothing if the text is not an IPv4 address.
std::optional<ipv4> parse_ipv4(std::string_view text);
std::string to_string(ipv4 address);

class ranges {
 public:
  // Both ends are included.
  void add(std::uint32_t first, std::uint32_t last);
  void remove(std::uint32_t first, std::uint32_t last);
  void add(const ranges& other);

  bool contains(std::uint32_t number) const;
  bool empty() const noexcept { return parts_.empty(); }
  // Maps the first to the last number of each range, sorted; no two are adjacent.
  const std::map<std::uint32_t, std::uint32_t>& parts() const noexcept { return parts_; }

  bool operator==(const ranges&) const = default;

 private:
  std::map<std::uint32_t, std::uint32_t> parts_;
};

}  // namespace troupe::actors::policies
