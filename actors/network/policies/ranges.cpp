#include "actors/network/policies/ranges.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <limits>

namespace troupe::actors::policies {

namespace {

constexpr auto greatest = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::optional<ipv4> parse_ipv4(std::string_view text) {
  in_addr address{};
  if (text.find('\0') != text.npos ||
      ::inet_pton(AF_INET, std::string{text}.c_str(), &address) != 1)
    return std::nullopt;
  return ntohl(address.s_addr);
}

std::string to_string(ipv4 address) {
  const in_addr bytes{htonl(address)};
  char text[INET_ADDRSTRLEN];
  return ::inet_ntop(AF_INET, &bytes, text, sizeof text);
}

void ranges::add(std::uint32_t first, std::uint32_t last) {
  // Ranges that start at or before `last` + 1 can be merged.
  auto next = parts_.upper_bound(last == greatest ? last : last + 1);
  while (next != parts_.begin()) {
    const auto part = std::prev(next);
    if (first != 0 && part->second < first - 1) break;
    first = std::min(first, part->first);
    last = std::max(last, part->second);
    next = parts_.erase(part);
  }
  parts_[first] = last;
}

void ranges::remove(std::uint32_t first, std::uint32_t last) {
  auto next = parts_.upper_bound(last);
  while (next != parts_.begin()) {
    const auto part = std::prev(next);
    const auto [begin, end] = *part;
    if (end < first) break;
    next = parts_.erase(part);
    if (end > last) next = parts_.emplace(last + 1, end).first;
    if (begin < first) {
      parts_[begin] = first - 1;
      break;
    }
  }
}

void ranges::add(const ranges& other) {
  for (const auto& [first, last] : other.parts_)
    add(first, last);
}

bool ranges::contains(std::uint32_t number) const {
  const auto next = parts_.upper_bound(number);
  return next != parts_.begin() && std::prev(next)->second >= number;
}

}  // namespace troupe::actors::policies
