// IP addresses as numbers, and sets of numbers as disjoint, non-adjacent ranges, as nft's
// interval sets require. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "actors/network/services/address_family.hpp"

namespace troupe::actors::policies {

using services::address_family;

// An address of either family, or a port.
using ip_number = unsigned __int128;

// Returns nothing if the text is not an address of that family.
std::optional<ip_number> parse_address(std::string_view text, const address_family& family);
std::string to_string(ip_number address, const address_family& family);
// The first and the last address; nothing if the text is not a range of that family.
std::optional<std::pair<ip_number, ip_number>> parse_range(std::string_view cidr,
                                                           const address_family& family);

class ranges {
 public:
  // Both ends are included.
  void add(ip_number first, ip_number last);
  void remove(ip_number first, ip_number last);
  void add(const ranges& other);

  bool contains(ip_number number) const;
  bool empty() const noexcept { return parts_.empty(); }
  // Maps the first to the last number of each range, sorted; no two are adjacent.
  const std::map<ip_number, ip_number>& parts() const noexcept { return parts_; }

  bool operator==(const ranges&) const = default;

 private:
  std::map<ip_number, ip_number> parts_;
};

}  // namespace troupe::actors::policies
