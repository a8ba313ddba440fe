// Connections by UDP as the kernel lists them, and which of them are stale. Pure.
//
// Such a "connection" lives on for as long as its client sends, whatever the rules say by then:
// what leads to an endpoint that has gone is to be removed (kubernetes:
// pkg/proxy/conntrack/cleanup.go).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace troupe::actors::services {

// Destinations by UDP as the maps of the table have them, "10.96.0.20 . udp . 53" or for a node
// port "udp . 30053", each with its endpoints, "10.42.0.5 . 53".
using udp_endpoints = std::map<std::string, std::set<std::string>>;

struct udp_connection {
  std::string destination;  // where the client sends to: an address
  std::uint16_t port = 0;
  std::string endpoint;  // where answers come from: "10.42.0.5 . 53"
  std::string key;       // what of the message names it to the kernel
};

// Of a message of the kernel, without its netlink header; nothing: not of UDP.
std::optional<udp_connection> read_connection(std::string_view message);
// `own`: addresses of this machine, the only ones that have node ports.
bool is_stale(const udp_connection& connection, const udp_endpoints& endpoints,
              const std::set<std::string>& own);

}  // namespace troupe::actors::services
