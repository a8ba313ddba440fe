#include "config/sources.hpp"

#include <algorithm>

#include "config/nearest.hpp"

namespace troupe::config {

namespace {

constexpr std::size_t max_shown_bytes = 60;
constexpr std::string_view prefix = "TROUPE_";

// Finds rows by their name in one source.
template <class NameOf>
const setting* find(std::span<const setting> rows, const std::string& name, NameOf name_of) {
  const auto it =
      std::find_if(rows.begin(), rows.end(), [&](auto& row) { return name_of(row) == name; });
  return it == rows.end() ? nullptr : &*it;
}

template <class NameOf>
std::vector<std::string> all_names(std::span<const setting> rows, NameOf name_of) {
  std::vector<std::string> result;
  std::transform(rows.begin(), rows.end(), std::back_inserter(result), name_of);
  return result;
}

}  // namespace

reading read_environment(const pairs& variables, std::span<const setting> rows) {
  reading result;
  for (const auto& [name, text] : variables) {
    if (!name.starts_with(prefix) || name == config_variable) continue;
    if (const auto* row = find(rows, name, environment_name)) {
      result.assignments.push_back({row, text, name});
    } else {
      result.problems.push_back(name + ": no key has this name" +
                                suggestion(name, all_names(rows, environment_name)));
    }
  }
  return result;
}

reading read_flags(const pairs& flags, std::span<const setting> rows) {
  reading result;
  for (const auto& [name, text] : flags) {
    const auto place = "--" + name;
    if (const auto* row = find(rows, name, flag_name)) {
      result.assignments.push_back({row, text, place});
    } else {
      result.problems.push_back(place + ": no key has this name" +
                                suggestion(name, all_names(rows, flag_name)));
    }
  }
  return result;
}

std::string shown(std::string_view text) {
  const bool cut = text.size() > max_shown_bytes;
  std::size_t end = std::min(text.size(), max_shown_bytes);
  while (cut && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;  // within a UTF-8 character
  std::string result = "\"";
  for (const char c : text.substr(0, end)) {
    const auto code = static_cast<unsigned char>(c);
    result += code < 0x20 || code == 0x7f ? '?' : c;
  }
  return result.append(cut ? "…\"" : "\"");
}

std::string refusal(const setting& row, const std::string& place, const std::string& found) {
  return place + ": " + yaml_name(row) + ": expected " + expected_form(row) +
         (row.secret ? "" : "; found " + found);
}

}  // namespace troupe::config
