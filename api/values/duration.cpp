#include "api/values/duration.hpp"

#include <limits>
#include <utility>

namespace troupe::api {
namespace {

using wide = __int128;

constexpr std::uint64_t microsecond = 1'000, millisecond = 1'000'000, second = 1'000'000'000;
constexpr std::uint64_t minute = 60 * second, hour = 60 * minute;

constexpr std::pair<std::string_view, std::uint64_t> units[] = {
    {"ns", 1},           {"us", microsecond}, {"µs", microsecond}, {"μs", microsecond},
    {"ms", millisecond}, {"s", second},       {"m", minute},       {"h", hour}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "1.5" for 1,500 in units of 1,000.
std::string in_units(std::uint64_t amount, std::uint64_t unit) {
  auto out = std::to_string(amount / unit);
  auto rest = amount % unit;
  if (rest == 0) return out;
  out += '.';
  for (; rest != 0; rest %= unit) {
    unit /= 10;
    out += static_cast<char>('0' + rest / unit);
  }
  return out;
}

// Takes a number with its unit from the front; nullopt if there is none.
std::optional<wide> take_part(std::string_view& text) {
  constexpr wide most = wide{1} << 64;
  wide whole = 0, fraction = 0, scale = 1;
  std::size_t at = 0, digits = 0;
  for (; at < text.size() && is_digit(text[at]); ++at, ++digits) {
    whole = whole * 10 + (text[at] - '0');
    if (whole > most) return std::nullopt;
  }
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && is_digit(text[at]); ++at, ++digits) {
      if (scale > most / 10) continue;  // finer than any unit
      fraction = fraction * 10 + (text[at] - '0');
      scale *= 10;
    }
  }
  if (digits == 0) return std::nullopt;
  auto end = at;
  while (end < text.size() && !is_digit(text[end]) && text[end] != '.')
    ++end;
  const auto name = text.substr(at, end - at);
  text.remove_prefix(end);
  for (const auto& [unit, size] : units)
    if (unit == name) return whole * size + fraction * size / scale;
  return std::nullopt;
}

}  // namespace

std::string format_duration(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "0s";
  const bool negative = nanoseconds < 0;
  auto left = static_cast<std::uint64_t>(nanoseconds);
  if (negative) left = -left;
  std::string out = negative ? "-" : "";
  if (left < microsecond) return out + in_units(left, 1) + "ns";
  if (left < millisecond) return out + in_units(left, microsecond) + "µs";
  if (left < second) return out + in_units(left, millisecond) + "ms";
  if (left >= hour) out += std::to_string(left / hour) + "h";
  if (left >= minute) out += std::to_string(left % hour / minute) + "m";
  return out + in_units(left % minute, second) + "s";
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  wide sum = 0;
  constexpr wide most = std::numeric_limits<std::int64_t>::max();
  while (!text.empty()) {
    const auto part = take_part(text);
    if (!part) return std::nullopt;
    sum += *part;
    if (sum > most + (negative ? 1 : 0)) return std::nullopt;
  }
  return static_cast<std::int64_t>(negative ? -sum : sum);
}

}  // namespace troupe::api
