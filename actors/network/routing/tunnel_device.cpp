#include "actors/network/routing/tunnel_device.hpp"

#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include "actors/network/defaults.hpp"
#include "actors/network/routing/addresses.hpp"

namespace troupe::actors::routing {
namespace {

using netlink::message;

struct known_device {
  int index = 0;
  bool up = false, vxlan = false;
  std::string hardware, local;
  std::uint32_t mtu_bytes = 0;
};

// Index 0: the device does not exist.
int read_device(netlink::socket& kernel, known_device& out) {
  message ask{RTM_GETLINK, 0};
  ask.fixed(ifinfomsg{});
  ask.attribute(IFLA_IFNAME, std::string{network_defaults::tunnel_device} + '\0');
  const int problem = kernel.ask(std::move(ask), [&](std::uint16_t, std::string_view body) {
    const auto head = netlink::fixed_of<ifinfomsg>(body);
    auto fields = netlink::attributes_of<ifinfomsg>(body);
    auto info = netlink::read_attributes(fields[IFLA_LINKINFO]);
    auto data = netlink::read_attributes(info[IFLA_INFO_DATA]);
    const auto local = data[IFLA_VXLAN_LOCAL6];
    out = {head.ifi_index,
           (head.ifi_flags & IFF_UP) != 0,
           info[IFLA_INFO_KIND].starts_with("vxlan"),
           std::string{fields[IFLA_ADDRESS]},
           address_text(local.empty() ? data[IFLA_VXLAN_LOCAL] : local),
           netlink::fixed_of<std::uint32_t>(fields[IFLA_MTU])};
  });
  return problem == ENODEV ? 0 : problem;
}

int remove_device(netlink::socket& kernel, int index) {
  message ask{RTM_DELLINK, 0};
  ifinfomsg head{};
  head.ifi_index = index;
  ask.fixed(head);
  return kernel.ask(std::move(ask));
}

int make_device(netlink::socket& kernel, const tunnel& wanted) {
  message ask{RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL};
  ifinfomsg head{};
  head.ifi_flags = head.ifi_change = IFF_UP;
  ask.fixed(head);
  ask.attribute(IFLA_IFNAME, std::string{network_defaults::tunnel_device} + '\0');
  ask.number(IFLA_MTU, wanted.mtu_bytes);
  ask.attribute(IFLA_ADDRESS, wanted.hardware);
  ask.nested(IFLA_LINKINFO, [&](message& info) {
    info.attribute(IFLA_INFO_KIND, "vxlan");
    info.nested(IFLA_INFO_DATA, [&](message& data) {
      data.number(IFLA_VXLAN_ID, network_defaults::tunnel_id);
      data.attribute(family_of(wanted.local) == AF_INET6 ? IFLA_VXLAN_LOCAL6 : IFLA_VXLAN_LOCAL,
                     address_bytes(wanted.local));
      data.number(IFLA_VXLAN_PORT, htons(network_defaults::tunnel_port));
      data.number(IFLA_VXLAN_LEARNING, std::uint8_t{0});
    });
  });
  return kernel.ask(std::move(ask));
}

int give_address(netlink::socket& kernel, int device, const std::string& address) {
  message ask{RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE};
  const bool v6 = family_of(address) == AF_INET6;
  ifaddrmsg head{};
  head.ifa_family = static_cast<std::uint8_t>(family_of(address));
  head.ifa_prefixlen = v6 ? 128 : 32;
  head.ifa_flags = v6 ? IFA_F_NODAD : 0;
  head.ifa_index = static_cast<std::uint32_t>(device);
  ask.fixed(head);
  ask.attribute(IFA_LOCAL, address_bytes(address));
  return kernel.ask(std::move(ask));
}

// -- peers ----------------------------------------------------------------------------------------

// Maps a next hop to its hardware address, or a hardware address to its machine.
using entries = std::map<std::string, std::string>;

message entry_message(std::uint16_t type, std::uint16_t flags, int device, std::uint8_t family,
                      const std::string& destination, const std::string& hardware) {
  ndmsg head{};
  head.ndm_family = family;
  head.ndm_ifindex = device;
  head.ndm_state = NUD_PERMANENT;
  head.ndm_flags = family == AF_BRIDGE ? NTF_SELF : 0;
  message out{type, flags};
  out.fixed(head);
  out.attribute(NDA_DST, address_bytes(destination));
  out.attribute(NDA_LLADDR, hardware);
  return out;
}

int read_entries(netlink::socket& kernel, int device, std::uint8_t family, entries& out) {
  message ask{RTM_GETNEIGH, NLM_F_DUMP};
  if (family == AF_BRIDGE) {
    // Requests for the forwarding table need another header, by which the kernel filters.
    ifinfomsg head{};
    head.ifi_family = AF_BRIDGE;
    ask.fixed(head);
  } else {
    ndmsg head{};
    head.ndm_family = family;
    ask.fixed(head);
  }
  return kernel.ask(std::move(ask), [&](std::uint16_t, std::string_view body) {
    const auto head = netlink::fixed_of<ndmsg>(body);
    if (head.ndm_ifindex != device || (head.ndm_state & NUD_PERMANENT) == 0) return;
    auto fields = netlink::attributes_of<ndmsg>(body);
    const auto destination = address_text(fields[NDA_DST]);
    const std::string hardware{fields[NDA_LLADDR]};
    if (destination.empty() || hardware.size() != 6) return;
    if (family == AF_BRIDGE)
      out[hardware] = destination;
    else
      out[destination] = hardware;
  });
}

int apply_entries(netlink::socket& kernel, int device, std::uint8_t family, const entries& wanted) {
  const auto change = [&](std::uint16_t type, std::uint16_t flags, const auto& entry) {
    const auto& [key, value] = entry;
    const bool forwarding = family == AF_BRIDGE;
    return kernel.ask(entry_message(type, flags, device, family, forwarding ? value : key,
                                    forwarding ? key : value));
  };
  entries known;
  int problem = read_entries(kernel, device, family, known);
  for (const auto& each : known)
    if (problem == 0 && !wanted.contains(each.first)) problem = change(RTM_DELNEIGH, 0, each);
  for (const auto& each : wanted) {
    const auto had = known.find(each.first);
    if (problem == 0 && (had == known.end() || had->second != each.second))
      problem = change(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, each);
  }
  return problem;
}

// A machine whose ranges are all of IPv4 may have a kernel without IPv6.
int apply_neighbours(netlink::socket& kernel, int device, const tunnel& wanted) {
  entries v4, v6, forwarding;
  for (const auto& [hop, end] : wanted.peers) {
    (family_of(hop) == AF_INET6 ? v6 : v4)[hop] = end.hardware;
    forwarding[end.hardware] = end.machine;
  }
  int problem = apply_entries(kernel, device, AF_INET, v4);
  if (problem == 0 && !v6.empty()) problem = apply_entries(kernel, device, AF_INET6, v6);
  return problem == 0 ? apply_entries(kernel, device, AF_BRIDGE, forwarding) : problem;
}

}  // namespace

int apply_tunnel(netlink::socket& kernel, const tunnel& wanted,
                 std::vector<std::string>& problems) {
  const auto failed = [&](const char* step, int problem) {
    problems.push_back(
        fmt::format("{} {}: {}", network_defaults::tunnel_device, step, std::strerror(problem)));
    return 0;
  };
  known_device device;
  if (const int problem = read_device(kernel, device); problem != 0)
    return failed("cannot be read", problem);
  const bool as_wanted = device.index != 0 && device.vxlan && device.up &&
                         device.hardware == wanted.hardware && device.local == wanted.local &&
                         device.mtu_bytes == wanted.mtu_bytes;
  if (device.index != 0 && !as_wanted) {
    if (const int problem = remove_device(kernel, device.index); problem != 0)
      return failed("cannot be removed", problem);
    device = {};
  }
  if (wanted.peers.empty()) return 0;
  if (device.index == 0) {
    if (const int problem = make_device(kernel, wanted); problem != 0)
      return failed("cannot be made", problem);
    if (const int problem = read_device(kernel, device); problem != 0 || device.index == 0)
      return failed("cannot be read", problem);
  }
  int problem = 0;
  for (const auto& address : wanted.addresses)
    if (problem == 0 || problem == EEXIST) problem = give_address(kernel, device.index, address);
  if (problem == 0 || problem == EEXIST) problem = apply_neighbours(kernel, device.index, wanted);
  return problem == 0 ? device.index : failed("cannot be set up", problem);
}

}  // namespace troupe::actors::routing
