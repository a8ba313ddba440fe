// What differs between IPv4 and IPv6 in the rules of services: each family has a table of its own,
// as in upstream, with the same sets, maps and chains.
#pragma once

#include <string>
#include <string_view>

#include "api/values/cidr.hpp"

namespace troupe::actors::services {

struct address_family {
  const char* name;      // of EndpointSlices and Services
  const char* table;     // ours, as nft names it
  const char* word;      // of nft, for its packets
  const char* type;      // of nft, for an address
  const char* loopback;  // addresses that have no node ports

  // True for an address of it.
  bool has(std::string_view address) const { return api::ip_family(address) == name; }
};

inline constexpr address_family family_v4{"IPv4", "ip troupe", "ip", "ipv4_addr", "127.0.0.0/8"};
inline constexpr address_family family_v6{"IPv6", "ip6 troupe", "ip6", "ipv6_addr", "::1"};

}  // namespace troupe::actors::services
