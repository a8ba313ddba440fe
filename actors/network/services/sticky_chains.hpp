// Generates the chains and sets for session affinity of one service port, as elements of the table
// (service_elements.hpp). Each endpoint has a set of its clients, whose entries expire, and a chain
// that adds the client to the set and translates the destination. A chain before these looks the
// client up in the sets; it chooses a random endpoint for an unknown client. All uses of a port
// share the sets of its endpoints, and an endpoint keeps its clients when others come and go
// (kubernetes: pkg/proxy/nftables). Pure.
#pragma once

#include <cstdint>
#include <string>

#include "actors/network/services/endpoint_choice.hpp"
#include "actors/network/services/service_elements.hpp"

namespace troupe::actors::services {

struct sticky_port {
  std::string address;   // cluster IP of the service
  std::string protocol;  // "tcp"
  int port = 0;
  int timeout_s = 0;
};

enum class sticky_use : std::uint8_t {
  inside,       // to the cluster IP
  local_only,   // from outside, to endpoints on this node
  masqueraded,  // from outside, to any endpoint: answers must return through this node
};

// Adds the sets and chains for these endpoints (at least one). Returns the chain to go to.
std::string add_sticky_chain(elements& out, const sticky_port& port, const address_family& family,
                             sticky_use use, const endpoint_addresses& to);

}  // namespace troupe::actors::services
