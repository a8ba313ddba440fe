#include "actors/network/services/udp_connections.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace troupe::actors::services {
namespace {

// The complete attribute of that type, with its header; empty: there is none.
std::string_view attribute(std::string_view among, std::uint16_t type) {
  while (among.size() >= NLA_HDRLEN) {
    nlattr head{};
    std::memcpy(&head, among.data(), sizeof head);
    if (head.nla_len < NLA_HDRLEN || head.nla_len > among.size()) return {};
    if ((head.nla_type & NLA_TYPE_MASK) == type) return among.substr(0, head.nla_len);
    among.remove_prefix(std::min<std::size_t>(NLA_ALIGN(head.nla_len), among.size()));
  }
  return {};
}

std::string_view content(std::string_view among, std::uint16_t type) {
  const auto found = attribute(among, type);
  return found.empty() ? found : found.substr(NLA_HDRLEN);
}

// The address in the attribute `type` (IPv4) or `type_v6`; empty: none.
std::string address_in(std::string_view tuple, std::uint16_t type, std::uint16_t type_v6) {
  const auto addresses = content(tuple, CTA_TUPLE_IP);
  const auto v4 = content(addresses, type), v6 = content(addresses, type_v6);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (v4.size() == sizeof(in_addr))
    return ::inet_ntop(AF_INET, v4.data(), text.data(), text.size());
  if (v6.size() == sizeof(in6_addr))
    return ::inet_ntop(AF_INET6, v6.data(), text.data(), text.size());
  return {};
}

std::uint16_t port_in(std::string_view tuple, std::uint16_t type) {
  const auto bytes = content(content(tuple, CTA_TUPLE_PROTO), type);
  std::uint16_t port = 0;
  if (bytes.size() == sizeof port) std::memcpy(&port, bytes.data(), sizeof port);
  return ntohs(port);
}

bool is_udp(std::string_view tuple) {
  const auto number = content(content(tuple, CTA_TUPLE_PROTO), CTA_PROTO_NUM);
  return number.size() == 1 && number.front() == IPPROTO_UDP;
}

}  // namespace

std::optional<udp_connection> read_connection(std::string_view message) {
  if (message.size() < sizeof(nfgenmsg)) return std::nullopt;
  const auto attributes = message.substr(NLMSG_ALIGN(sizeof(nfgenmsg)));
  const auto there = content(attributes, CTA_TUPLE_ORIG),
             back = content(attributes, CTA_TUPLE_REPLY);
  if (!is_udp(there)) return std::nullopt;
  udp_connection out;
  out.destination = address_in(there, CTA_IP_V4_DST, CTA_IP_V6_DST);
  out.port = port_in(there, CTA_PROTO_DST_PORT);
  out.endpoint = fmt::format("{} . {}", address_in(back, CTA_IP_V4_SRC, CTA_IP_V6_SRC),
                             port_in(back, CTA_PROTO_SRC_PORT));
  if (out.destination.empty()) return std::nullopt;
  for (const auto type : {CTA_TUPLE_ORIG, CTA_ZONE})
    out.key += attribute(attributes, static_cast<std::uint16_t>(type));
  return out;
}

bool is_stale(const udp_connection& connection, const udp_endpoints& endpoints,
              const std::set<std::string>& own) {
  auto found =
      endpoints.find(fmt::format("{} . udp . {}", connection.destination, connection.port));
  if (found == endpoints.end() && own.contains(connection.destination))
    found = endpoints.find(fmt::format("udp . {}", connection.port));
  return found != endpoints.end() && !found->second.contains(connection.endpoint);
}

}  // namespace troupe::actors::services
