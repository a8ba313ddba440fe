// Whole numbers in decimal digits. Pure.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace troupe::api {

// Nothing if the text is anything else, or the number does not fit.
template <class Integer>
std::optional<Integer> parse_integer(std::string_view text) noexcept {
  Integer value{};
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return value;
}

}  // namespace troupe::api
