// Values with a written form of their own: durations, sizes, addresses. Pure functions: text that
// has not the form gives nullopt, never an exception; print(parse(t)) is canonical, parse(print(v))
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

// Where to listen. Without a host it means "do not listen"; port 0 lets the system choose one.
struct address {
  std::string host;
  std::uint16_t port = 0;

  bool empty() const { return host.empty(); }
  bool operator==(const address&) const = default;
};

// A whole number with an optional minus sign.
std::optional<std::int64_t> parse_count(std::string_view text);

// Go's form, as Kubernetes writes durations: one or more of 1h, 1m, 1s, 1ms, largest first; or 0.
std::optional<duration> parse_duration(std::string_view text);
std::string print(duration value);

// Kubernetes' quantities of bytes: a whole number with Ki, Mi, Gi, Ti, k, M, G, T or nothing.
std::optional<byte_size> parse_size(std::string_view text);
std::string print(byte_size value);

// HOST:PORT, where an IPv6 host stands in brackets; the empty text is the empty address.
std::optional<address> parse_address(std::string_view text);
std::string print(const address& value);

}  // namespace troupe::config
