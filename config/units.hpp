// Values with their own text format: durations, sizes, addresses. Pure functions: invalid
// text gives nullopt, never an exception; print(parse(t)) is canonical, and parse(print(v))
// is v.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::config {

using duration = std::chrono::milliseconds;

struct byte_size {
  std::int64_t bytes = 0;
  auto operator<=>(const byte_size&) const = default;
};

// A listen address. An empty host means "do not listen"; port 0: the system chooses one.
struct address {
  std::string host;
  std::uint16_t port = 0;

  bool empty() const { return host.empty(); }
  bool operator==(const address&) const = default;
};

// A whole number with an optional minus sign.
std::optional<std::int64_t> parse_count(std::string_view text);

// Go's format, which Kubernetes uses: one or more of 1h, 1m, 1s, 1ms, largest first; or 0.
std::optional<duration> parse_duration(std::string_view text);
std::string print(duration value);

// Kubernetes' byte quantities: a whole number with Ki, Mi, Gi, Ti, k, M, G, T or no suffix.
std::optional<byte_size> parse_size(std::string_view text);
std::string print(byte_size value);

// The address of a machine; empty: none.
struct ip_address {
  std::string text;

  bool empty() const { return text.empty(); }
  bool operator==(const ip_address&) const = default;
};

// HOST:PORT with an IPv6 host in brackets; empty text is the empty address.
std::optional<address> parse_address(std::string_view text);
std::string print(const address& value);

// An address without a port, IPv4 or IPv6, in its usual form; empty text is the empty address.
std::optional<ip_address> parse_ip_address(std::string_view text);

}  // namespace troupe::config
