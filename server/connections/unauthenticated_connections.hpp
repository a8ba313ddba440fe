// The unauthenticated connections of one I/O thread, by age and by address. Belongs to that thread,
// except size().
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

namespace troupe::server {

class connection;

// The address without its port as a number: an IPv4 address, mapped or not, or the first 64 bits of
// an IPv6 address, which belong to one customer. 0: a Unix socket.
std::uint64_t address_of(const sockaddr_storage& peer) noexcept;

class unauthenticated_connections {
 public:
  void add(connection& connection, std::uint64_t address);
  void remove(connection& connection, std::uint64_t address);

  // The next one to close: the oldest idle one, else the oldest. Null if there is
  // none.
  connection* first() const;
  connection* first_of(std::uint64_t address) const;

  std::size_t count_of(std::uint64_t address) const;
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  // Keyed by address and number; numbers grow with each connection.
  std::map<std::pair<std::uint64_t, std::uint64_t>, connection*> by_address_;
  std::map<std::uint64_t, connection*> by_age_;
  std::unordered_map<std::uint64_t, std::size_t> counts_;
  std::uint64_t last_ = 0;
  std::atomic<std::size_t> size_{0};
};

}  // namespace troupe::server
