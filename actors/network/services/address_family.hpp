// The differences between IPv4 and IPv6 in the rules of services and of network policies: each
// family has its own tables with the same sets, maps and chains, as upstream.
#pragma once

#include <string>
#include <string_view>

#include "api/values/cidr.hpp"

namespace troupe::actors::services {

struct address_family {
  const char* name;      // in EndpointSlices and Services
  const char* table;     // our table, with nft's family
  const char* policies;  // our table of network policies
  const char* word;      // nft's keyword for the packet header
  const char* type;      // nft's type of an address
  const char* loopback;  // addresses without node ports
  const char* unspecified;
  int bits;  // of an address

  // `address` in canonical form, as which the kernel knows it: of IPv6 there are many texts for one
  // address. Empty: not a valid address of this family.
  std::string text_of(std::string_view address) const {
    return api::ip_family(address) == name ? *api::canonical_ip(address) : std::string{};
  }
};

inline constexpr address_family family_v4{"IPv4",      "ip troupe",   "ip troupe-policy", "ip",
                                          "ipv4_addr", "127.0.0.0/8", "0.0.0.0",          32};
inline constexpr address_family family_v6{
    "IPv6", "ip6 troupe", "ip6 troupe-policy", "ip6", "ipv6_addr", "::1", "::", 128};

}  // namespace troupe::actors::services
