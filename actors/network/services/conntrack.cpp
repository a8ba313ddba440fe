#include "actors/network/services/conntrack.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <vector>

#include "actors/network/defaults.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors::services {
namespace {

std::string request(std::uint16_t type, std::uint16_t flags, std::uint8_t family,
                    std::string_view attributes) {
  nlmsghdr head{};
  nfgenmsg body{};
  head.nlmsg_type = static_cast<std::uint16_t>(NFNL_SUBSYS_CTNETLINK << 8 | type);
  head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  head.nlmsg_len = static_cast<std::uint32_t>(NLMSG_LENGTH(sizeof body) + attributes.size());
  body.nfgen_family = family;
  body.version = NFNETLINK_V0;
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  out.append(reinterpret_cast<const char*>(&body), sizeof body);
  return out.append(attributes);
}

// Sends a request and calls `each` for every message of the answer; returns 0 or an errno.
int ask(int fd, const std::string& asked, const std::function<void(std::string_view)>& each) {
  if (::send(fd, asked.data(), asked.size(), 0) < 0) return errno;
  std::vector<char> bytes(network_defaults::conntrack_read_bytes);
  for (;;) {
    const auto size = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (size <= 0) return size < 0 ? errno : EPROTO;
    std::string_view left{bytes.data(), static_cast<std::size_t>(size)};
    while (left.size() >= sizeof(nlmsghdr)) {
      nlmsghdr head{};
      std::memcpy(&head, left.data(), sizeof head);
      if (head.nlmsg_len < sizeof head || head.nlmsg_len > left.size()) return EPROTO;
      const auto body = left.substr(0, head.nlmsg_len).substr(NLMSG_HDRLEN);
      if (head.nlmsg_type == NLMSG_DONE) return 0;
      if (head.nlmsg_type == NLMSG_ERROR) {
        int problem = -EPROTO;
        if (body.size() >= sizeof problem) std::memcpy(&problem, body.data(), sizeof problem);
        return -problem;
      }
      each(body);
      left.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(head.nlmsg_len), left.size()));
    }
  }
}

std::set<std::string> own_addresses(int family) {
  std::set<std::string> out;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return out;
  for (const auto* each = all; each; each = each->ifa_next) {
    if (!each->ifa_addr || each->ifa_addr->sa_family != family) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* address = &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
    if (family == AF_INET6)
      address = &reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr;
    out.insert(::inet_ntop(family, address, text.data(), text.size()));
  }
  ::freeifaddrs(all);
  return out;
}

}  // namespace

tl::expected<std::size_t, std::string> remove_stale_connections(const udp_endpoints& endpoints,
                                                                const address_family& family) {
  const auto failed = [](int problem) {
    return tl::make_unexpected(fmt::format("conntrack: {}", std::strerror(problem)));
  };
  const runtime::unique_fd fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER)};
  const timeval limit{network_defaults::conntrack_limit.count(), 0};
  if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0)
    return failed(errno);
  const std::uint8_t number = &family == &family_v6 ? AF_INET6 : AF_INET;
  const auto own = own_addresses(number);
  std::vector<std::string> stale;
  const auto collect = [&](std::string_view message) {
    auto connection = read_connection(message);
    if (connection && is_stale(*connection, endpoints, own))
      stale.push_back(std::move(connection->key));
  };
  if (const int problem =
          ask(fd.get(), request(IPCTNL_MSG_CT_GET, NLM_F_DUMP, number, {}), collect);
      problem != 0)
    return failed(problem);
  for (const auto& key : stale) {
    const int problem = ask(fd.get(), request(IPCTNL_MSG_CT_DELETE, NLM_F_ACK, number, key),
                            [](std::string_view) {});
    // The connection may have ended meanwhile.
    if (problem != 0 && problem != ENOENT) return failed(problem);
  }
  return stale.size();
}

}  // namespace troupe::actors::services
