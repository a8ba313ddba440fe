#include "actors/network/policies/ranges.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "api/values/cidr.hpp"

namespace troupe::actors::policies {

namespace {

constexpr auto greatest = ~ip_number{0};

ip_number number_of(const api::cidr& range, const address_family& family) {
  ip_number number = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(family.bits) / 8; ++i)
    number = number << 8 | range.bytes()[i];
  return number;
}

std::optional<api::cidr> parse(const std::string& cidr, const address_family& family) {
  auto parsed = api::cidr::parse(cidr);
  if (parsed && parsed->is_v6() != (&family == &services::family_v6)) parsed.reset();
  return parsed;
}

}  // namespace

std::optional<ip_number> parse_address(std::string_view text, const address_family& family) {
  const auto parsed = parse(fmt::format("{}/{}", text, family.bits), family);
  return parsed ? std::optional{number_of(*parsed, family)} : std::nullopt;
}

std::string to_string(ip_number address, const address_family& family) {
  std::array<std::uint8_t, 16> bytes{};
  for (auto i = static_cast<std::size_t>(family.bits) / 8; i-- > 0; address >>= 8)
    bytes[i] = static_cast<std::uint8_t>(address);
  char text[INET6_ADDRSTRLEN];
  const int number = &family == &services::family_v6 ? AF_INET6 : AF_INET;
  return ::inet_ntop(number, bytes.data(), text, sizeof text);
}

std::optional<std::pair<ip_number, ip_number>> parse_range(std::string_view cidr,
                                                           const address_family& family) {
  const auto parsed = parse(std::string{cidr}, family);
  if (!parsed) return std::nullopt;
  const auto address = number_of(*parsed, family);
  const auto prefix = parsed->prefix_bits();
  const auto all = greatest >> (128 - family.bits);
  // A shift by all 128 bits is undefined.
  const auto of_hosts = prefix == family.bits ? ip_number{0} : all >> prefix;
  return std::pair{address & ~of_hosts, address | of_hosts};
}

void ranges::add(ip_number first, ip_number last) {
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

void ranges::remove(ip_number first, ip_number last) {
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

bool ranges::contains(ip_number number) const {
  const auto next = parts_.upper_bound(number);
  return next != parts_.begin() && std::prev(next)->second >= number;
}

}  // namespace troupe::actors::policies
