#include "actors/network/node/loopback_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "runtime/unique_fd.hpp"

namespace troupe::actors {
namespace {

// How long the kernel has to answer.
constexpr int answer_limit_ms = 1'000;

struct address_request {
  nlmsghdr head{};
  ifaddrmsg body{};
  rtattr attribute{};
  in_addr address{};
};

// `as_wanted`: what the kernel says where nothing is to be done.
tl::expected<void, std::string> change(std::uint16_t type, std::uint16_t flags,
                                       const std::string& address, int as_wanted) {
  const auto failed = [&](int problem) {
    return tl::make_unexpected(fmt::format(
        "cannot {} {} {} the loopback device: {}", type == RTM_NEWADDR ? "give" : "take", address,
        type == RTM_NEWADDR ? "to" : "from", std::strerror(problem)));
  };
  address_request request;
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = type;
  request.head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
  request.body.ifa_family = AF_INET;
  request.body.ifa_prefixlen = 32;
  request.body.ifa_index = ::if_nametoindex("lo");
  request.attribute.rta_type = IFA_LOCAL;
  request.attribute.rta_len = RTA_LENGTH(sizeof request.address);
  if (::inet_pton(AF_INET, address.c_str(), &request.address) != 1) return failed(EINVAL);
  const runtime::unique_fd fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
  if (!fd || ::send(fd.get(), &request, sizeof request, 0) < 0) return failed(errno);
  pollfd ready{fd.get(), POLLIN, 0};
  if (::poll(&ready, 1, answer_limit_ms) != 1) return failed(ETIMEDOUT);
  alignas(nlmsghdr) char bytes[512];
  const auto size = ::recv(fd.get(), bytes, sizeof bytes, 0);
  if (size < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr)))) return failed(EPROTO);
  nlmsgerr answer{};
  std::memcpy(&answer, bytes + NLMSG_HDRLEN, sizeof answer);
  if (answer.error != 0 && answer.error != -as_wanted) return failed(-answer.error);
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
