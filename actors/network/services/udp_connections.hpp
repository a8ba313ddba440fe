// UDP connections in the kernel's connection table, and which of them are stale. Pure.
//
// Such a "connection" lives as long as its client sends, even after the rules have
// changed: one to a removed endpoint must be deleted (kubernetes:
// pkg/proxy/conntrack/cleanup.go).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace troupe::actors::services {

// UDP destinations as in the maps of the table, "10.96.0.20 . udp . 53" or for a node port "udp .
// 30053", each with its endpoints, "10.42.0.5 . 53".
using udp_endpoints = std::map<std::string, std::set<std::string>>;

struct udp_connection {
  std::string destination;  // address that the client sends to
  std::uint16_t port = 0;
  std::string endpoint;  // source of the answers: "10.42.0.5 . 53"
  std::string key;       // part of the message that identifies it to the kernel
};

// Parses a kernel message without its netlink header; nothing if the connection is not UDP.
std::optional<udp_connection> read_connection(std::string_view message);
// `own`: this machine's addresses; only they have node ports.
bool is_stale(const udp_connection& connection, const udp_endpoints& endpoints,
              const std::set<std::string>& own);

}  // namespace troupe::actors::services
