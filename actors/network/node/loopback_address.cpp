#include "actors/network/node/loopback_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <cerrno>
#include <cstring>

#include "actors/network/netlink/netlink.hpp"

namespace troupe::actors {
namespace {

// `as_wanted`: the kernel's error if the address is already in the requested state.
tl::expected<void, std::string> change(std::uint16_t type, std::uint16_t flags,
                                       const std::string& address, int as_wanted) {
  const auto failed = [&](const std::string& problem) {
    return tl::make_unexpected(fmt::format("cannot {} {} {} the loopback device: {}",
                                           type == RTM_NEWADDR ? "give" : "take", address,
                                           type == RTM_NEWADDR ? "to" : "from", problem));
  };
  in_addr bytes{};
  if (::inet_pton(AF_INET, address.c_str(), &bytes) != 1) return failed(std::strerror(EINVAL));
  auto kernel = netlink::socket::open(NETLINK_ROUTE);
  if (!kernel) return failed(kernel.error());
  netlink::message request{type, flags};
  ifaddrmsg head{};
  head.ifa_family = AF_INET;
  head.ifa_prefixlen = 32;
  head.ifa_index = ::if_nametoindex("lo");
  request.fixed(head).number(IFA_LOCAL, bytes.s_addr);
  const int problem = kernel->ask(std::move(request));
  if (problem != 0 && problem != as_wanted) return failed(std::strerror(problem));
  return {};
}

}  // namespace

tl::expected<void, std::string> add_loopback_address(const std::string& address) {
  return change(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, address, EEXIST);
}

tl::expected<void, std::string> remove_loopback_address(const std::string& address) {
  return change(RTM_DELADDR, 0, address, EADDRNOTAVAIL);
}

}  // namespace troupe::actors
