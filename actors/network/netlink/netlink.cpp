#include "actors/network/netlink/netlink.hpp"

#include <fmt/format.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "actors/network/defaults.hpp"

namespace troupe::actors::netlink {

message::message(std::uint16_t type, std::uint16_t flags) {
  nlmsghdr head{};
  head.nlmsg_type = type;
  head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  fixed(head);
}

message& message::append(std::string_view part) {
  bytes_ += part;
  bytes_.resize(NLMSG_ALIGN(bytes_.size()));
  return *this;
}

message& message::attribute(std::uint16_t type, std::string_view bytes) {
  const nlattr head{static_cast<std::uint16_t>(NLA_HDRLEN + bytes.size()), type};
  return fixed(head).append(bytes);
}

message& message::nested(std::uint16_t type, const std::function<void(message&)>& inner) {
  const auto at = bytes_.size();
  attribute(type, {});
  inner(*this);
  const auto length = static_cast<std::uint16_t>(bytes_.size() - at);
  std::memcpy(bytes_.data() + at, &length, sizeof length);
  return *this;
}

std::string message::bytes() const {
  auto out = bytes_;
  const auto length = static_cast<std::uint32_t>(out.size());
  std::memcpy(out.data(), &length, sizeof length);
  return out;
}

attributes read_attributes(std::string_view bytes) {
  attributes out;
  while (bytes.size() >= sizeof(nlattr)) {
    const auto head = fixed_of<nlattr>(bytes);
    if (head.nla_len < sizeof head || head.nla_len > bytes.size()) break;
    out[head.nla_type & NLA_TYPE_MASK] = bytes.substr(NLA_HDRLEN, head.nla_len - NLA_HDRLEN);
    bytes.remove_prefix(std::min<std::size_t>(NLA_ALIGN(head.nla_len), bytes.size()));
  }
  return out;
}

tl::expected<socket, std::string> socket::open(int protocol) {
  runtime::unique_fd fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol)};
  const timeval limit{network_defaults::netlink_limit.count(), 0};
  if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0)
    return tl::make_unexpected(fmt::format("no netlink socket: {}", std::strerror(errno)));
  return socket{std::move(fd)};
}

int socket::ask(message request, const on_answer& each) {
  auto bytes = request.bytes();
  auto head = fixed_of<nlmsghdr>(bytes);
  // A dump needs no acknowledgement: it has an end message.
  if ((head.nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP) head.nlmsg_flags |= NLM_F_ACK;
  std::memcpy(bytes.data(), &head, sizeof head);
  if (::send(fd_.get(), bytes.data(), bytes.size(), 0) < 0) return errno;
  return receive(each);
}

int socket::receive(const on_answer& each) {
  std::vector<char> bytes(network_defaults::netlink_read_bytes);
  for (;;) {
    const auto size = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (size <= 0) return size < 0 ? errno : EPROTO;
    std::string_view left{bytes.data(), static_cast<std::size_t>(size)};
    while (left.size() >= sizeof(nlmsghdr)) {
      const auto head = fixed_of<nlmsghdr>(left);
      if (head.nlmsg_len < sizeof head || head.nlmsg_len > left.size()) return EPROTO;
      const auto body = left.substr(NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN);
      if (head.nlmsg_type == NLMSG_DONE) return 0;
      if (head.nlmsg_type == NLMSG_ERROR) return -fixed_of<nlmsgerr>(body).error;
      if (each) each(head.nlmsg_type, body);
      left.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(head.nlmsg_len), left.size()));
    }
  }
}

}  // namespace troupe::actors::netlink
