// ASCII letters. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace troupe::api {

inline char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

inline std::string to_lower(std::string_view text) {
  std::string result(text);
  for (auto& c : result)
    c = to_lower(c);
  return result;
}

}  // namespace troupe::api
