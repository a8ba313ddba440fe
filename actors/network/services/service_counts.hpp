// The connections that the kernel has counted for elements of the table (nft_table.hpp): of a port
// of a service at one address, since its element was last written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/network/services/address_family.hpp"
#include "actors/network/services/service_elements.hpp"

namespace troupe::actors::services {

using connection_counts = std::map<element_key, std::uint64_t>;

// The counts in nft's text of elements of that map; what is no element is skipped. Pure.
connection_counts parse_counts(const std::string& map, const std::string& text);

// Asks nft, whose command this is, for the counts of those elements that have one. A map with an
// element that is not in the kernel is left out. Blocks for at most
// `network_defaults::counts_limit` for each of four maps: not for actor threads.
connection_counts read_counts(const std::vector<std::string>& nft, const elements& of,
                              const address_family& family);

}  // namespace troupe::actors::services
