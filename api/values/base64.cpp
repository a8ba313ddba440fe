#include "api/values/base64.hpp"

#include <array>
#include <cstdint>

namespace troupe::api {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t none = 0xFF;

constexpr std::array<std::uint8_t, 256> values = [] {
  std::array<std::uint8_t, 256> out{};
  out.fill(none);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    out[static_cast<std::uint8_t>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return out;
}();

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    std::uint32_t group = static_cast<std::uint8_t>(bytes[i]) << 16;
    if (left > 1) group |= static_cast<std::uint8_t>(bytes[i + 1]) << 8;
    if (left > 2) group |= static_cast<std::uint8_t>(bytes[i + 2]);
    out += alphabet[group >> 18];
    out += alphabet[group >> 12 & 63];
    out += left > 1 ? alphabet[group >> 6 & 63] : '=';
    out += left > 2 ? alphabet[group & 63] : '=';
  }
}

std::optional<base64_error> append_from_base64(std::string& out, std::string_view text) {
  std::uint32_t group = 0;
  int digits = 0;   // in the group of four
  int padding = 0;  // '=' seen
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      // Only the third and fourth place of the last group may be padding.
      if (digits < 2 || digits + ++padding > 4) return base64_error{i};
      continue;
    }
    const std::uint8_t value = values[static_cast<std::uint8_t>(c)];
    if (value == none || padding != 0) return base64_error{i};
    group = group << 6 | value;
    if (++digits < 4) continue;
    out += static_cast<char>(group >> 16);
    out += static_cast<char>(group >> 8);
    out += static_cast<char>(group);
    digits = 0;
    group = 0;
  }
  if (digits == 0 && padding == 0) return std::nullopt;
  if (digits + padding != 4) return base64_error{text.size()};
  if (digits == 2) out += static_cast<char>(group >> 4);
  if (digits == 3) {
    out += static_cast<char>(group >> 10);
    out += static_cast<char>(group >> 2);
  }
  return std::nullopt;
}

}  // namespace troupe::api
