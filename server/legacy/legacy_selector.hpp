// Selectors of 2014: comma-separated terms a=b, a==b or a!=b, all of which must hold. An absent
// value compares as "". (upstream: pkg/labels/selector.go)
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::server::legacy {

class legacy_selector {
 public:
  // Matches everything.
  legacy_selector() = default;
  // Nullopt if the text is not a selector.
  static std::optional<legacy_selector> parse(std::string_view text);

  bool everything() const noexcept { return terms_.empty(); }
  // The value that the selector requires for the key, if any.
  std::optional<std::string_view> exact(std::string_view key) const;
  bool matches(const std::function<std::string(const std::string& key)>& value_of) const;
  // Replaces each value by `stands_for(value)`.
  void replace_values(std::string (*stands_for)(std::string_view value));
  // The first key for which `known` returns false.
  std::optional<std::string> unknown(const std::function<bool(std::string_view)>& known) const;

 private:
  struct term {
    std::string key;
    std::string value;
    bool equal = true;
  };
  std::vector<term> terms_;
};

}  // namespace troupe::server::legacy
