#include "server/legacy/legacy_selector.hpp"

#include <algorithm>

#include "api/values/text_parts.hpp"

namespace troupe::server::legacy {

std::optional<legacy_selector> legacy_selector::parse(std::string_view text) {
  legacy_selector out;
  for (const auto part : api::parts_between(text, ',')) {
    const auto sign = part.find_first_of("!=");
    if (sign == std::string_view::npos) return std::nullopt;
    const bool equal = part[sign] == '=';
    const bool two = part.substr(sign + 1).starts_with('=');
    if (!equal && !two) return std::nullopt;
    out.terms_.push_back(
        {std::string(part.substr(0, sign)), std::string(part.substr(sign + (two ? 2 : 1))), equal});
  }
  return out;
}

std::optional<std::string_view> legacy_selector::exact(std::string_view key) const {
  for (const auto& each : terms_)
    if (each.equal && each.key == key) return each.value;
  return std::nullopt;
}

bool legacy_selector::matches(
    const std::function<std::string(const std::string& key)>& value_of) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const term& each) {
    return (value_of(each.key) == each.value) == each.equal;
  });
}

void legacy_selector::replace_values(std::string (*stands_for)(std::string_view value)) {
  for (auto& each : terms_)
    each.value = stands_for(each.value);
}

std::optional<std::string> legacy_selector::unknown(
    const std::function<bool(std::string_view)>& known) const {
  for (const auto& each : terms_)
    if (!known(each.key)) return each.key;
  return std::nullopt;
}

}  // namespace troupe::server::legacy
