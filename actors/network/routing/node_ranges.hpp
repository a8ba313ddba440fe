// The pod address ranges of each node, from the Nodes of the cluster. An invalid Node breaks only
// that node's connections, never those of others. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/object/object.hpp"
#include "api/values/cidr.hpp"

namespace troupe::actors::routing {

struct pod_peer {
  std::string node;
  api::cidr range;
  // Of the node, in the same family as the range; of IPv6 it may be empty: only a tunnel leads
  // there.
  std::string address;

  bool operator==(const pod_peer&) const = default;
};

struct node_ranges {
  std::vector<api::cidr> own;
  std::string own_address;  // IPv4; empty: none that other nodes can use
  std::vector<pod_peer> peers;
  std::vector<std::string> problems;
  std::string own_address_v6 = {};

  bool operator==(const node_ranges&) const = default;
};

// `nodes` by name. A range counts if the cluster's ranges contain it and no other node's overlaps:
// this node has precedence, then older ones. Loopback addresses are unusable for others.
node_ranges ranges_of_nodes(const std::map<std::string, api::object_ptr>& nodes,
                            const std::string& own, const std::vector<api::cidr>& cluster);

}  // namespace troupe::actors::routing
