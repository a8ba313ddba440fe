// A hash map whose keys are texts; views find them without a copy.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace troupe::actors {

struct hash_of_text {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

template <class Value>
using text_map = std::unordered_map<std::string, Value, hash_of_text, std::equal_to<>>;

}  // namespace troupe::actors
