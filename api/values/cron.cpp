#include "api/values/cron.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace troupe::api {
namespace {

struct field_bounds {
  int least;
  int most;
  std::span<const std::string_view> names = {};  // from `least` on
};

constexpr std::string_view months[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                       "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view days[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr std::array<field_bounds, 5> fields = {
    field_bounds{0, 59}, {0, 23}, {1, 31}, {1, 12, months}, {0, 6, days}};
constexpr std::string_view words[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                      "@daily",  "@midnight", "@hourly"};

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = std::min(text.find_first_of(separators), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  auto parts = split(text, " \t\n\r\v\f");
  std::erase_if(parts, [](std::string_view part) { return part.empty(); });
  return parts;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<int> value_of(std::string_view text, const field_bounds& bounds) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  const auto found = std::find(bounds.names.begin(), bounds.names.end(), lower);
  if (found != bounds.names.end())
    return bounds.least + static_cast<int>(found - bounds.names.begin());
  return number(text);
}

std::string quoted_in_brackets(std::string_view text, const std::vector<std::string_view>& parts) {
  std::string all;
  for (const auto part : parts)
    all += (all.empty() ? "" : " ") + std::string(part);
  return std::string(text) + ": [" + all + "]";
}

// "*", "5", "1-5", each perhaps with "/2".
std::string fault_of_range(std::string_view range, const field_bounds& bounds) {
  const auto steps = split(range, "/");
  const auto ends = split(steps[0], "-");
  const auto text = std::string(range);
  int from = bounds.least, to = bounds.most;
  if (ends[0] != "*" && ends[0] != "?") {
    const auto first = value_of(ends[0], bounds);
    const auto last = value_of(ends.size() > 1 ? ends[1] : ends[0], bounds);
    if (!first || !last) return "failed to parse int from " + text;
    if (ends.size() > 2) return "too many hyphens: " + text;
    from = *first;
    // A single value with a step goes on to the end of the range.
    to = ends.size() == 1 && steps.size() > 1 ? bounds.most : *last;
  }
  if (steps.size() > 2) return "too many slashes: " + text;
  if (steps.size() == 2) {
    const auto step = number(steps[1]);
    if (!step) return "failed to parse int from " + std::string(steps[1]);
    if (*step == 0) return "step of range should be a positive number: " + text;
  }
  if (from < bounds.least)
    return "beginning of range (" + std::to_string(from) + ") below minimum (" +
           std::to_string(bounds.least) + "): " + text;
  if (to > bounds.most)
    return "end of range (" + std::to_string(to) + ") above maximum (" +
           std::to_string(bounds.most) + "): " + text;
  if (from > to)
    return "beginning of range (" + std::to_string(from) + ") beyond end of range (" +
           std::to_string(to) + "): " + text;
  return {};
}

// A duration of Go: "1h30m", "90s", "1.5h".
bool is_duration(std::string_view text) {
  static constexpr std::string_view units[] = {"ns", "us", "µs", "ms", "s", "m", "h"};
  if (text.empty()) return false;
  while (!text.empty()) {
    const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto amount = text.substr(0, digits);
    if (amount.empty() || amount == "." || std::count(amount.begin(), amount.end(), '.') > 1)
      return false;
    text.remove_prefix(digits);
    const auto unit = text.substr(0, std::min(text.find_first_of("0123456789."), text.size()));
    if (std::find(std::begin(units), std::end(units), unit) == std::end(units)) return false;
    text.remove_prefix(unit.size());
  }
  return true;
}

std::string fault_of_word(std::string_view text) {
  if (std::find(std::begin(words), std::end(words), text) != std::end(words)) return {};
  constexpr std::string_view every = "@every ";
  if (!text.starts_with(every)) return "unrecognized descriptor: " + std::string(text);
  if (is_duration(text.substr(every.size()))) return {};
  return "failed to parse duration " + std::string(text);
}

std::string fault_of(std::string_view text) {
  if (text.empty()) return "empty spec string";
  for (const std::string_view zone : {"TZ=", "CRON_TZ="}) {
    if (!text.starts_with(zone)) continue;
    const auto space = text.find(' ');
    if (space == std::string_view::npos) return "provided bad location " + std::string(text);
    text.remove_prefix(space + 1);
    break;
  }
  if (text.starts_with('@')) return fault_of_word(text);
  const auto parts = words_of(text);
  if (parts.size() != fields.size())
    return quoted_in_brackets("expected exactly 5 fields, found " + std::to_string(parts.size()),
                              parts);
  for (std::size_t i = 0; i < fields.size(); ++i)
    for (const auto range : split(parts[i], ",")) {
      // Empty elements are passed over, as upstream's library does.
      if (range.empty()) continue;
      if (auto fault = fault_of_range(range, fields[i]); !fault.empty()) return fault;
    }
  return {};
}

}  // namespace

complaints check_schedule(std::string_view s) {
  auto fault = fault_of(s);
  if (fault.empty()) return {};
  return {std::move(fault)};
}

}  // namespace troupe::api
