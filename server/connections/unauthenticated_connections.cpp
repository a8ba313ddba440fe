#include "server/connections/unauthenticated_connections.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>
#include <iterator>

#include "server/connections/connection.hpp"

namespace troupe::server {
namespace {

// The number of oldest connections that are checked for idleness.
constexpr int idle_checks = 16;

std::uint64_t number_of(const in_addr& four) noexcept {
  // ff00::/8 is multicast: no peer has such an address.
  return 0xffff'0000'0000'0000U | ntohl(four.s_addr);
}

template <class Iterator>
connection* idle_first(Iterator at, Iterator end) {
  connection* const oldest = at == end ? nullptr : at->second;
  for (int i = 0; i < idle_checks && at != end; ++i, ++at)
    if (at->second->idle()) return at->second;
  return oldest;
}

}  // namespace

std::uint64_t address_of(const sockaddr_storage& peer) noexcept {
  if (peer.ss_family == AF_INET)
    return number_of(reinterpret_cast<const sockaddr_in&>(peer).sin_addr);
  if (peer.ss_family != AF_INET6) return 0;
  const auto& six = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    in_addr four{};
    std::memcpy(&four, six.s6_addr + 12, sizeof four);
    return number_of(four);
  }
  std::uint64_t prefix = 0;
  for (int i = 0; i < 8; ++i)
    prefix = prefix << 8 | six.s6_addr[i];
  // ::1 has no prefix, but is not a Unix socket.
  return prefix == 0 ? 1 : prefix;
}

void unauthenticated_connections::add(connection& connection, std::uint64_t address) {
  const auto number = ++last_;
  const auto added = by_address_.emplace(std::pair{address, number}, &connection).first;
  try {
    by_age_.emplace(number, &connection);
    ++counts_[address];
  } catch (...) {
    by_age_.erase(number);
    by_address_.erase(added);
    throw;
  }
  connection.unauthenticated_number = number;
  size_.fetch_add(1, std::memory_order_relaxed);
}

void unauthenticated_connections::remove(connection& connection, std::uint64_t address) {
  by_address_.erase({address, connection.unauthenticated_number});
  by_age_.erase(connection.unauthenticated_number);
  if (const auto found = counts_.find(address); --found->second == 0) counts_.erase(found);
  size_.fetch_sub(1, std::memory_order_relaxed);
  connection.unauthenticated_number = 0;
}

connection* unauthenticated_connections::first() const {
  return idle_first(by_age_.begin(), by_age_.end());
}

connection* unauthenticated_connections::first_of(std::uint64_t address) const {
  return idle_first(by_address_.lower_bound({address, 0}),
                    by_address_.upper_bound({address, last_}));
}

std::size_t unauthenticated_connections::count_of(std::uint64_t address) const {
  const auto found = counts_.find(address);
  return found == counts_.end() ? 0 : found->second;
}

}  // namespace troupe::server
