#include "config/units.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace troupe::config {

namespace {

struct suffix {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::array time_suffixes{suffix{"h", 3'600'000}, suffix{"m", 60'000}, suffix{"s", 1'000},
                                   suffix{"ms", 1}};

// Suffixes used for printing come first, in descending order.
constexpr std::array size_suffixes{suffix{"Ti", 1LL << 40},
                                   suffix{"Gi", 1LL << 30},
                                   suffix{"Mi", 1LL << 20},
                                   suffix{"Ki", 1LL << 10},
                                   suffix{"", 1},
                                   suffix{"k", 1'000},
                                   suffix{"M", 1'000'000},
                                   suffix{"G", 1'000'000'000},
                                   suffix{"T", 1'000'000'000'000}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view take_while(std::string_view& text, bool digits) {
  const auto end =
      std::find_if(text.begin(), text.end(), [=](char c) { return is_digit(c) != digits; });
  const auto taken = text.substr(0, end - text.begin());
  text.remove_prefix(taken.size());
  return taken;
}

// Parses one number with its suffix and removes it from the front of the text.
template <std::size_t N>
std::optional<std::int64_t> take_quantity(std::string_view& text,
                                          const std::array<suffix, N>& known,
                                          const suffix** found = nullptr) {
  const auto number = parse_count(take_while(text, true));
  const auto name = take_while(text, false);
  const auto it = std::find_if(known.begin(), known.end(), [&](auto& s) { return s.name == name; });
  if (!number || it == known.end()) return std::nullopt;
  if (*number > std::numeric_limits<std::int64_t>::max() / it->factor) return std::nullopt;
  if (found != nullptr) *found = &*it;
  return *number * it->factor;
}

}  // namespace

std::optional<std::int64_t> parse_count(std::string_view text) {
  std::int64_t result = 0;
  const auto* end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, result);
  if (failure != std::errc{} || stopped != end) return std::nullopt;
  return result;
}

std::optional<duration> parse_duration(std::string_view text) {
  if (text == "0") return duration::zero();
  if (text.empty()) return std::nullopt;
  std::int64_t sum = 0;
  const suffix* last = nullptr;
  while (!text.empty()) {
    const suffix* found = nullptr;
    const auto part = take_quantity(text, time_suffixes, &found);
    if (!part || (last != nullptr && found->factor >= last->factor)) return std::nullopt;
    if (*part > std::numeric_limits<std::int64_t>::max() - sum) return std::nullopt;
    sum += *part;
    last = found;
  }
  return duration{sum};
}

std::string print(duration value) {
  auto rest = value.count();
  if (rest == 0) return "0s";
  std::string result;
  for (const auto& unit : time_suffixes) {
    if (const auto n = rest / unit.factor; n != 0) result += std::to_string(n).append(unit.name);
    rest %= unit.factor;
  }
  return result;
}

std::optional<byte_size> parse_size(std::string_view text) {
  const auto bytes = take_quantity(text, size_suffixes);
  if (!bytes || !text.empty()) return std::nullopt;
  return byte_size{*bytes};
}

std::string print(byte_size value) {
  const auto unit = std::find_if(size_suffixes.begin(), size_suffixes.end(), [&](const auto& s) {
    return value.bytes >= s.factor && value.bytes % s.factor == 0;
  });
  if (unit == size_suffixes.end()) return std::to_string(value.bytes);
  return std::to_string(value.bytes / unit->factor).append(unit->name);
}

std::optional<address> parse_address(std::string_view text) {
  if (text.empty()) return address{};
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto host = text.substr(0, colon);
  const auto digits = text.substr(colon + 1);
  const auto port = parse_count(digits);
  if (!port || !is_digit(digits.front()) || *port > 65'535) return std::nullopt;
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || bracketed != (host.find(':') != host.npos)) return std::nullopt;
  const bool clean = std::all_of(host.begin(), host.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view(".:-%").find(c) != std::string_view::npos;
  });
  if (!clean) return std::nullopt;
  return address{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string print(const address& value) {
  if (value.empty()) return "";
  const bool ipv6 = value.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + value.host + "]" : value.host) + ":" + std::to_string(value.port);
}

std::optional<ip_address> parse_ip_address(std::string_view text) {
  if (text.empty()) return ip_address{};
  const std::string copy{text};
  const int family = copy.find(':') == copy.npos ? AF_INET : AF_INET6;
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> usual{};
  if (copy.find('\0') != copy.npos || ::inet_pton(family, copy.c_str(), bytes.data()) != 1 ||
      ::inet_ntop(family, bytes.data(), usual.data(), usual.size()) == nullptr)
    return std::nullopt;
  return ip_address{usual.data()};
}

}  // namespace troupe::config
