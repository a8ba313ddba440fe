// Selects the endpoints of a service port that a node sends connections to. Pure. kubernetes:
// pkg/proxy/topology.go, CategorizeEndpoints.
#pragma once

#include <string>
#include <vector>

#include "actors/network/services/address_family.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_service.pb.h"

namespace troupe::actors::services {

// The name in nft of a port's protocol: "tcp" for "TCP", and for none.
std::string protocol_of(const std::string& protocol);

struct endpoint_address {
  std::string address;
  int port = 0;

  friend auto operator<=>(const endpoint_address&, const endpoint_address&) = default;
};
using endpoint_addresses = std::vector<endpoint_address>;  // sorted, without duplicates

// The node's name and its topology zone.
struct node_place {
  std::string name;
  std::string zone = {};  // empty: unknown
};

struct chosen_endpoints {
  endpoint_addresses internal;  // for the cluster IP
  endpoint_addresses external;  // for node ports and external addresses
  bool any = false;             // whether there is an endpoint on any node
};

// Ready endpoints in slices of `family`; if there are none, terminating ones that still serve. A
// traffic policy Local selects this node's; otherwise topology hints select this zone's, if all
// ready endpoints have hints and one is for this zone.
chosen_endpoints choose_endpoints(const api::core::v1::Service& service,
                                  const api::core::v1::ServicePort& port,
                                  const std::vector<api::object_ptr>& slices,
                                  const node_place& node, const address_family& family);

}  // namespace troupe::actors::services
