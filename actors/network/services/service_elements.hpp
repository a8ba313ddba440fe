// Converts a service to elements of the table's sets and maps (nft_table.hpp). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/network/services/endpoint_choice.hpp"
#include "api/object/object.hpp"
#include "api/values/cidr.hpp"

namespace troupe::actors::services {

// Values of `collection` for objects that belong to one service, in place of the name of a set or
// map. The key is the name of a set of clients, or of a chain; a chain's data is its rules by line.
inline constexpr const char* own_set = "set";
inline constexpr const char* own_chain = "chain";

// The set or map and the key in it, as nft text.
struct element_key {
  std::string collection;
  std::string key;

  friend auto operator<=>(const element_key&, const element_key&) = default;
};
// The value is the data of a map element; empty for a set.
using elements = std::map<element_key, std::string>;

// Whether the collection is `own_set` or `own_chain`.
bool is_own(const element_key& key);
// The elements for one service on this node in the table of `family`; none for a service without
// a cluster IP of that family. External addresses in `cluster_range`, the range of cluster IPs, are
// left out, so that no service gets the traffic of another one, and so are the addresses of DNS
// and, except of its own service, of the API.
elements elements_of(const api::object& service, const std::vector<api::object_ptr>& slices,
                     const node_place& node, const address_family& family,
                     const std::optional<api::cidr>& cluster_range = std::nullopt);

// The chain that an element's data jumps to: for "goto pick-3" the kind "pick" and 3; 0 if it is
// not a chain for a number of endpoints.
std::pair<std::string, std::size_t> numbered_chain(const std::string& data);

}  // namespace troupe::actors::services
