// A netlink client: requests to the kernel about its network, and its answers (netlink(7)).
// No library is linked: the messages are few
// (docs/decisions/0057-pod-network-by-rtnetlink.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>

#include "runtime/unique_fd.hpp"

namespace troupe::actors::netlink {

// A request: its header, a fixed part that depends on its type, and attributes.
class message {
 public:
  // `flags` are added to NLM_F_REQUEST.
  message(std::uint16_t type, std::uint16_t flags);

  template <class T>
  message& fixed(const T& part) {
    static_assert(std::is_trivially_copyable_v<T>);
    return append({reinterpret_cast<const char*>(&part), sizeof part});
  }
  message& attribute(std::uint16_t type, std::string_view bytes);
  template <class T>
  message& number(std::uint16_t type, T value) {
    static_assert(std::is_integral_v<T>);
    return attribute(type, {reinterpret_cast<const char*>(&value), sizeof value});
  }
  // The attributes that `inner` adds become the content of one attribute.
  message& nested(std::uint16_t type, const std::function<void(message&)>& inner);

  // The complete message, with its length.
  std::string bytes() const;

 private:
  message& append(std::string_view part);

  std::string bytes_;
};

using attributes = std::map<std::uint16_t, std::string_view>;
// Parses the bytes after the fixed part; truncated attributes are left out.
attributes read_attributes(std::string_view bytes);
// The fixed part of an answer, filled with zeros if the answer is shorter.
template <class T>
T fixed_of(std::string_view body) {
  T out{};
  body.copy(reinterpret_cast<char*>(&out), sizeof out);
  return out;
}
// The attributes after the fixed part.
template <class T>
attributes attributes_of(std::string_view body) {
  constexpr std::size_t size = (sizeof(T) + 3) & ~std::size_t{3};
  return read_attributes(body.size() > size ? body.substr(size) : std::string_view{});
}

// Receives one message of an answer: its type and the bytes after its header.
using on_answer = std::function<void(std::uint16_t type, std::string_view body)>;

// Blocks for at most `network_defaults::netlink_limit`: for a worker thread.
class socket {
 public:
  static tl::expected<socket, std::string> open(int protocol);

  // Returns 0 or the kernel's errno. Asks for an acknowledgement; `each` gets a dump's messages.
  int ask(message request, const on_answer& each = {});

 private:
  explicit socket(runtime::unique_fd fd) : fd_{std::move(fd)} {}
  int receive(const on_answer& each);

  runtime::unique_fd fd_;
};

}  // namespace troupe::actors::netlink
