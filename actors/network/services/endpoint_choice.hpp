// Which endpoints of a service port a node sends connections to. Pure.
// kubernetes: pkg/proxy/topology.go, CategorizeEndpoints.
#pragma once

#include <string>
#include <vector>

#include "actors/network/services/address_family.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_service.pb.h"

namespace troupe::actors::services {

// As nft names it: "tcp".
std::string protocol_of(const api::core::v1::ServicePort& port);

struct endpoint_address {
  std::string address;
  int port = 0;

  friend auto operator<=>(const endpoint_address&, const endpoint_address&) = default;
};
using endpoint_addresses = std::vector<endpoint_address>;  // in order, each once

// What the node is to its neighbours.
struct node_place {
  std::string name;
  std::string zone = {};  // empty: not known
};

struct chosen_endpoints {
  endpoint_addresses internal;  // for the address of the service
  endpoint_addresses external;  // for node ports and addresses outside of the cluster
  bool any = false;             // whether any node has one
};

// Those that are ready; where none is, those that still serve while they end. Policies of the
// service keep to this node; otherwise hints keep to its zone, where all endpoints have some and
// one is for it. Of slices of that family alone.
chosen_endpoints choose_endpoints(const api::core::v1::Service& service,
                                  const api::core::v1::ServicePort& port,
                                  const std::vector<api::object_ptr>& slices,
                                  const node_place& node, const address_family& family = family_v4);

}  // namespace troupe::actors::services
