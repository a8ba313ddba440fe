// The few things a doorway does with sockets of the system.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "runtime/link/link.hpp"

namespace troupe::runtime::link {

// Owns a file descriptor.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) noexcept : number_{number} {}
  descriptor(descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  descriptor& operator=(descriptor&& other) noexcept {
    descriptor{std::move(other)}.swap(*this);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  explicit operator bool() const noexcept { return number_ >= 0; }
  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  void swap(descriptor& other) noexcept { std::swap(number_, other.number_); }

  int number_ = -1;
};

// A socket that listens; an empty host means all addresses of the machine. The error names the
// address and what is wrong with it.
tl::expected<descriptor, std::string> listen_at(const address& where);
std::uint16_t port_of(int socket);
// Host and port, as `address_of` gives gRPC's form of it.
std::string text_of(const sockaddr_storage& from);
// No delay of small packets, and an end when what was sent is not acknowledged in time.
void set_options(int socket);

}  // namespace troupe::runtime::link
