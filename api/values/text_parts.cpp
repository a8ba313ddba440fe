#include "api/values/text_parts.hpp"

#include <algorithm>

namespace troupe::api {

std::string_view take_part(std::string_view& text, char separator) noexcept {
  const auto part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

std::vector<std::string_view> parts_between(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty())
    if (const auto part = take_part(text, separator); !part.empty()) parts.push_back(part);
  return parts;
}

std::string_view trimmed(std::string_view text, std::string_view characters) noexcept {
  const auto begin = std::min(text.find_first_not_of(characters), text.size());
  return text.substr(begin, text.find_last_not_of(characters) + 1 - begin);
}

}  // namespace troupe::api
