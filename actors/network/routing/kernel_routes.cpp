#include "actors/network/routing/kernel_routes.hpp"

#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "actors/network/defaults.hpp"
#include "actors/network/routing/addresses.hpp"
#include "actors/network/routing/tunnel_device.hpp"

namespace troupe::actors::routing {
namespace {

using netlink::message;

struct device {
  std::string name;
  std::uint32_t mtu_bytes = 0;
  bool up = false, loopback = false;
};

std::string failed(const char* step, int problem) {
  return fmt::format("{}: {}", step, std::strerror(problem));
}

int read_devices(netlink::socket& kernel, std::map<int, device>& out) {
  message ask{RTM_GETLINK, NLM_F_DUMP};
  ask.fixed(ifinfomsg{});
  return kernel.ask(std::move(ask), [&](std::uint16_t type, std::string_view body) {
    if (type != RTM_NEWLINK) return;
    const auto head = netlink::fixed_of<ifinfomsg>(body);
    auto fields = netlink::attributes_of<ifinfomsg>(body);
    const auto name = fields[IFLA_IFNAME];
    out[head.ifi_index] = {std::string{name.substr(0, name.find('\0'))},
                           netlink::fixed_of<std::uint32_t>(fields[IFLA_MTU]),
                           (head.ifi_flags & IFF_UP) != 0, (head.ifi_flags & IFF_LOOPBACK) != 0};
  });
}

message route_message(std::uint16_t type, std::uint16_t flags, const api::cidr& to,
                      const route& by) {
  rtmsg head{};
  head.rtm_family = static_cast<std::uint8_t>(to.is_v6() ? AF_INET6 : AF_INET);
  head.rtm_dst_len = static_cast<std::uint8_t>(to.prefix_bits());
  head.rtm_table = RT_TABLE_MAIN;
  head.rtm_protocol = network_defaults::route_protocol;
  head.rtm_scope = RT_SCOPE_UNIVERSE;
  head.rtm_type = RTN_UNICAST;
  head.rtm_flags = by.on_link ? RTNH_F_ONLINK : 0u;
  message out{type, flags};
  out.fixed(head);
  out.attribute(RTA_DST, address_bytes(to.address()));
  out.attribute(RTA_GATEWAY, address_bytes(by.via));
  out.number(RTA_OIF, by.link);
  return out;
}

// Reads our routes of both families.
int read_routes(netlink::socket& kernel, std::map<std::string, route>& out) {
  for (const int family : {AF_INET, AF_INET6}) {
    message ask{RTM_GETROUTE, NLM_F_DUMP};
    rtmsg all{};
    all.rtm_family = static_cast<std::uint8_t>(family);
    ask.fixed(all);
    const int problem = kernel.ask(std::move(ask), [&](std::uint16_t, std::string_view body) {
      const auto head = netlink::fixed_of<rtmsg>(body);
      if (head.rtm_protocol != network_defaults::route_protocol ||
          head.rtm_table != RT_TABLE_MAIN || head.rtm_type != RTN_UNICAST)
        return;
      auto fields = netlink::attributes_of<rtmsg>(body);
      out[fmt::format("{}/{}", address_text(fields[RTA_DST]), head.rtm_dst_len)] = {
          address_text(fields[RTA_GATEWAY]), netlink::fixed_of<int>(fields[RTA_OIF]),
          (head.rtm_flags & RTNH_F_ONLINK) != 0};
    });
    if (problem != 0 && family == AF_INET) return problem;
  }
  return 0;
}

int remove_route(netlink::socket& kernel, const std::string& range, const route& known) {
  const auto to = api::cidr::parse(range);
  const int problem = to ? kernel.ask(route_message(RTM_DELROUTE, 0, *to, known)) : 0;
  return problem == ESRCH ? 0 : problem;
}

}  // namespace

tl::expected<std::vector<own_link>, std::string> read_links(netlink::socket& kernel,
                                                            const std::vector<api::cidr>& own) {
  std::map<int, device> devices;
  if (const int problem = read_devices(kernel, devices); problem != 0)
    return tl::make_unexpected(failed("devices", problem));
  std::vector<own_link> out;
  message ask{RTM_GETADDR, NLM_F_DUMP};
  ask.fixed(ifaddrmsg{});
  const int problem = kernel.ask(std::move(ask), [&](std::uint16_t, std::string_view body) {
    const auto head = netlink::fixed_of<ifaddrmsg>(body);
    auto fields = netlink::attributes_of<ifaddrmsg>(body);
    const auto bytes = fields.contains(IFA_LOCAL) ? fields[IFA_LOCAL] : fields[IFA_ADDRESS];
    const auto address =
        api::cidr::parse(fmt::format("{}/{}", address_text(bytes), head.ifa_prefixlen));
    const auto& on = devices[static_cast<int>(head.ifa_index)];
    if (!address || !on.up || on.loopback || on.name == network_defaults::tunnel_device) return;
    const auto is_around = [&](const auto& range) {
      return range.contains(
          *api::cidr::parse(address->address() + (address->is_v6() ? "/128" : "/32")));
    };
    if (std::any_of(own.begin(), own.end(), is_around)) return;
    out.push_back({static_cast<int>(head.ifa_index), *address, on.mtu_bytes});
  });
  if (problem != 0) return tl::make_unexpected(failed("addresses", problem));
  return out;
}

std::vector<std::string> apply_routes(netlink::socket& kernel, const route_plan& plan) {
  std::vector<std::string> problems;
  auto wanted = plan.direct;
  if (const int device = apply_tunnel(kernel, plan.through, problems); device != 0)
    for (const auto& range : plan.ranges_through)
      wanted[range] = {api::cidr::parse(range)->address(), device, true};
  std::map<std::string, route> known;
  if (const int problem = read_routes(kernel, known); problem != 0) {
    problems.push_back(failed("routes", problem));
    return problems;
  }
  for (const auto& [range, by] : known) {
    const auto kept = wanted.find(range);
    if (kept != wanted.end() && kept->second == by) continue;
    if (const int problem = remove_route(kernel, range, by); problem != 0)
      problems.push_back(failed(range.c_str(), problem));
  }
  for (const auto& [range, by] : wanted) {
    const auto had = known.find(range);
    if (had != known.end() && had->second == by) continue;
    const int problem = kernel.ask(
        route_message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, *api::cidr::parse(range), by));
    if (problem == EEXIST)
      problems.push_back(fmt::format("a route to {} is there that is not ours", range));
    else if (problem != 0)
      problems.push_back(
          fmt::format("route to {} by {}: {}", range, by.via, std::strerror(problem)));
  }
  return problems;
}

tl::expected<void, std::string> remove_routes() {
  auto kernel = netlink::socket::open(NETLINK_ROUTE);
  if (!kernel) return tl::make_unexpected(kernel.error());
  const auto problems = apply_routes(*kernel, {});
  if (!problems.empty()) return tl::make_unexpected(problems.front());
  return {};
}

}  // namespace troupe::actors::routing
