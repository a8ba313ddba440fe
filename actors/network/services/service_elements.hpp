// Converts a service to elements of the table's sets and maps (nft_table.hpp). Pure.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/network/services/endpoint_choice.hpp"
#include "api/object/object.hpp"

namespace troupe::actors::services {

// The set or map and the key in it, as nft text.
struct element_key {
  std::string collection;
  std::string key;

  friend auto operator<=>(const element_key&, const element_key&) = default;
};
// The value is the data of a map element; empty for a set.
using elements = std::map<element_key, std::string>;

// The elements for one service on this node; none for a service without an address.
elements elements_of(const api::object& service, const std::vector<api::object_ptr>& slices,
                     const node_place& node);

// The chain that an element's data jumps to: for "goto pick-3" the kind "pick" and 3; 0 if it is
// not a chain for a number of endpoints.
std::pair<std::string, std::size_t> numbered_chain(const std::string& data);

}  // namespace troupe::actors::services
