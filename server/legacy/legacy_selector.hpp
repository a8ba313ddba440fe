// Selectors of 2014: terms a=b, a==b or a!=b joined by commas, all of which must hold. What is
// absent compares as "". (upstream: pkg/labels/selector.go)
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
  // Nothing where the text is no selector.
  static std::optional<legacy_selector> parse(std::string_view text);

  bool everything() const noexcept { return terms_.empty(); }
  // The value that the field must have, when one is demanded.
  std::optional<std::string_view> exact(std::string_view key) const;
  bool matches(const std::function<std::string(const std::string& key)>& value_of) const;
  // Compares with `stands_for(value)` in place of each value.
  void replace_values(std::string (*stands_for)(std::string_view value));
  // The first key that `known` refuses.
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
