#include "server/http/query.hpp"

#include <algorithm>

namespace troupe::server {
namespace {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_unreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// Calls `visit(raw name, raw value)` for each parameter until it returns true.
template <class F>
void scan(std::string_view raw, F visit) {
  while (!raw.empty()) {
    const auto end = raw.find('&');
    const auto parameter = raw.substr(0, end);
    raw = end == std::string_view::npos ? std::string_view() : raw.substr(end + 1);
    if (parameter.empty()) continue;
    const auto equals = parameter.find('=');
    const auto value =
        equals == std::string_view::npos ? std::string_view() : parameter.substr(equals + 1);
    if (visit(parameter.substr(0, equals), value)) return;
  }
}

bool same_name(std::string_view raw, std::string_view name) {
  if (raw == name) return true;
  return raw.find_first_of("%+") != std::string_view::npos && percent_decode(raw, true) == name;
}

bool is_false(std::string_view text) {
  static constexpr std::string_view word = "false";
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return a == b || a == b - 'a' + 'A'; });
}

}  // namespace

std::string percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        continue;
      }
    }
    out.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(digits[byte >> 4]);
      out.push_back(digits[byte & 15]);
    }
  }
  return out;
}

std::optional<std::string> query_string::get(std::string_view name) const {
  std::optional<std::string> found;
  scan(raw_, [&](std::string_view raw_name, std::string_view raw_value) {
    if (!same_name(raw_name, name)) return false;
    found = percent_decode(raw_value, true);
    return true;
  });
  return found;
}

std::string query_string::get_or(std::string_view name, std::string_view fallback) const {
  auto found = get(name);
  return found ? std::move(*found) : std::string(fallback);
}

std::vector<std::string> query_string::all(std::string_view name) const {
  std::vector<std::string> found;
  scan(raw_, [&](std::string_view raw_name, std::string_view raw_value) {
    if (same_name(raw_name, name)) found.push_back(percent_decode(raw_value, true));
    return false;
  });
  return found;
}

bool query_string::has(std::string_view name) const {
  bool found = false;
  scan(raw_, [&](std::string_view raw_name, std::string_view) {
    return found = same_name(raw_name, name);
  });
  return found;
}

bool query_string::flag(std::string_view name) const {
  const auto value = get(name);
  return value && *value != "0" && !is_false(*value);
}

void query_string::each(
    const std::function<void(std::string name, std::string value)>& visit) const {
  scan(raw_, [&](std::string_view raw_name, std::string_view raw_value) {
    visit(percent_decode(raw_name, true), percent_decode(raw_value, true));
    return false;
  });
}

}  // namespace troupe::server
