// Plans the routes to the pods of other machines: direct to a machine on a common link, or through
// a VXLAN device. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/network/routing/node_ranges.hpp"

namespace troupe::actors::routing {

enum class route_mode { automatic, direct, tunnel };

// An address of this machine.
struct own_link {
  int index = 0;
  api::cidr address;  // with the prefix of its link
  std::uint32_t mtu_bytes = 0;
};

struct route {
  std::string via;
  int link = 0;
  // The next hop is on the link even if its address is not in the link's subnet.
  bool on_link = false;

  bool operator==(const route&) const = default;
};

// The tunnel device and its peers, machines with addresses of the same family: of IPv4 if a machine
// has an address and a range of it, otherwise of IPv6. Each range of either family has its own next
// hop: its first address, with a hardware address derived from the machine's range of the tunnel's
// family, so that machines need no exchange.
struct tunnel {
  std::string local;                   // address of this machine
  std::vector<std::string> addresses;  // of the device: the first of each own range
  std::string hardware;                // six bytes
  std::uint32_t mtu_bytes = 0;
  struct tunnel_peer {
    std::string hardware, machine;
    bool operator==(const tunnel_peer&) const = default;
  };
  std::map<std::string, tunnel_peer> peers;  // by next hop

  bool operator==(const tunnel&) const = default;
};

struct route_plan {
  std::map<std::string, route> direct;  // by range
  tunnel through;
  std::vector<std::string> ranges_through;
  // For pods; always leaves room for the tunnel header, even without a tunnel.
  std::uint32_t pod_mtu_bytes = 0;
  std::vector<std::string> problems;
};

// `links`: without loopback and pod devices.
route_plan plan_routes(const node_ranges& ranges, const std::vector<own_link>& links,
                       route_mode mode);

// Returns 02:42 and four bytes: of an IPv4 address, or of all parts of an IPv6 address, which
// differ for the ranges of two nodes.
std::string hardware_address(const api::cidr& range);

}  // namespace troupe::actors::routing
