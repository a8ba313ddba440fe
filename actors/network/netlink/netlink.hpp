// Messages to the kernel about its network, and its answers (netlink(7)). Nothing is linked for it:
// the messages are few, and libmnl would be one library more
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

// A request: its head, a fixed part that depends on its type, and attributes.
class message {
 public:
  // `flags` besides NLM_F_REQUEST.
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
  // What `inner` adds becomes the content of one attribute.
  message& nested(std::uint16_t type, const std::function<void(message&)>& inner);

  // With its length.
  std::string bytes() const;

 private:
  message& append(std::string_view part);

  std::string bytes_;
};

using attributes = std::map<std::uint16_t, std::string_view>;
// Of the bytes behind the fixed part; what is cut off is left out.
attributes read_attributes(std::string_view bytes);
// The fixed part of an answer; zeros beyond its end.
template <class T>
T fixed_of(std::string_view body) {
  T out{};
  body.copy(reinterpret_cast<char*>(&out), sizeof out);
  return out;
}
// What stands behind it.
template <class T>
attributes attributes_of(std::string_view body) {
  constexpr std::size_t size = (sizeof(T) + 3) & ~std::size_t{3};
  return read_attributes(body.size() > size ? body.substr(size) : std::string_view{});
}

// One answer of several: its type and what stands behind its head.
using on_answer = std::function<void(std::uint16_t type, std::string_view body)>;

// Blocks for `network_defaults::netlink_limit` at most: for a worker thread.
class socket {
 public:
  static tl::expected<socket, std::string> open(int protocol);

  // 0, or the kernel's errno. Asks for an acknowledgement; `each` gets the messages of a dump.
  int ask(message request, const on_answer& each = {});

 private:
  explicit socket(runtime::unique_fd fd) : fd_{std::move(fd)} {}
  int receive(const on_answer& each);

  runtime::unique_fd fd_;
};

}  // namespace troupe::actors::netlink
