// Which addresses the pods of each node have, as the Nodes of the cluster say it. What one Node
// says wrongly costs that node its own connections, nobody else's. Pure.
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
  std::string address;  // of the node, of the same family

  bool operator==(const pod_peer&) const = default;
};

struct node_ranges {
  std::vector<api::cidr> own;
  std::string own_address;  // IPv4; empty: none that others could use
  std::vector<pod_peer> peers;
  std::vector<std::string> problems;

  bool operator==(const node_ranges&) const = default;
};

// `nodes` by name. A range counts that is in a range of the cluster and no other's part already:
// this node comes first, then older ones. Loopback addresses are of no use to others.
node_ranges ranges_of_nodes(const std::map<std::string, api::object_ptr>& nodes,
                            const std::string& own, const std::vector<api::cidr>& cluster);

}  // namespace troupe::actors::routing
