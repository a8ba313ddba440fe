// Session affinity: chains and sets of a service port's own, as elements of the table
// (service_elements.hpp). Each endpoint has a set of the clients that were sent to it, each until
// its time is over, and a chain that remembers the client and sends there; a chain before these
// looks a client up, and chooses by chance for one that none remembers. All uses of a port share
// what its endpoints remember, and an endpoint keeps its clients while others come and go
// (kubernetes: pkg/proxy/nftables). Pure.
#pragma once

#include <cstdint>
#include <string>

#include "actors/network/services/endpoint_choice.hpp"
#include "actors/network/services/service_elements.hpp"

namespace troupe::actors::services {

struct sticky_port {
  std::string address;   // of the service
  std::string protocol;  // "tcp"
  int port = 0;
  int timeout_s = 0;
};

enum class sticky_use : std::uint8_t {
  inside,       // the address of the service
  local_only,   // from outside, to endpoints of this node
  masqueraded,  // from outside, to any: answers must come back by this node
};

// Adds what it takes for these endpoints, of which there is one at least. The chain to go to.
std::string add_sticky_chain(elements& out, const sticky_port& port, const address_family& family,
                             sticky_use use, const endpoint_addresses& to);

}  // namespace troupe::actors::services
