#include "api/values/cron.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/values/ascii.hpp"
#include "api/values/duration.hpp"
#include "api/values/integer.hpp"

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
constexpr std::pair<std::string_view, std::string_view> words[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"}};

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
  const auto value = parse_integer<int>(text);
  if (!value || *value < 0) return std::nullopt;
  return *value;
}

std::optional<int> value_of(std::string_view text, const field_bounds& bounds) {
  const auto name = to_lower(text);
  const auto found = std::find(bounds.names.begin(), bounds.names.end(), name);
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

// "*", "5", "1-5", each with an optional "/2". Adds the values to `bits`; returns the error.
std::string read_range(std::string_view range, const field_bounds& bounds, std::uint64_t& bits,
                       bool& any) {
  const auto steps = split(range, "/");
  const auto ends = split(steps[0], "-");
  const auto text = std::string(range);
  int from = bounds.least, to = bounds.most, step = 1;
  const bool star = ends[0] == "*" || ends[0] == "?";
  if (!star) {
    const auto first = value_of(ends[0], bounds);
    const auto last = value_of(ends.size() > 1 ? ends[1] : ends[0], bounds);
    if (!first || !last) return "failed to parse int from " + text;
    if (ends.size() > 2) return "too many hyphens: " + text;
    from = *first;
    // A single value with a step continues to the end of the range.
    to = ends.size() == 1 && steps.size() > 1 ? bounds.most : *last;
  }
  if (steps.size() > 2) return "too many slashes: " + text;
  if (steps.size() == 2) {
    const auto given = number(steps[1]);
    if (!given) return "failed to parse int from " + std::string(steps[1]);
    step = *given;
    if (step == 0) return "step of range should be a positive number: " + text;
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
  // As upstream's library: "*" with a step is a selection of days, not all days.
  any |= star && step == 1;
  for (std::int64_t value = from; value <= to; value += step)
    bits |= std::uint64_t{1} << value;
  return {};
}

using parsed = tl::expected<cron_schedule, std::string>;

parsed parse_fields(std::string_view text) {
  const auto parts = words_of(text);
  if (parts.size() != fields.size())
    return tl::unexpected{quoted_in_brackets(
        "expected exactly 5 fields, found " + std::to_string(parts.size()), parts)};
  cron_schedule result;
  bool ignored = false;
  const std::array bits{&result.minutes, &result.hours, &result.days, &result.months,
                        &result.weekdays};
  const std::array any{&ignored, &ignored, &result.any_day, &ignored, &result.any_weekday};
  for (std::size_t i = 0; i < fields.size(); ++i)
    for (const auto range : split(parts[i], ",")) {
      // Skips empty elements, as upstream's library does.
      if (range.empty()) continue;
      if (auto fault = read_range(range, fields[i], *bits[i], *any[i]); !fault.empty())
        return tl::unexpected{std::move(fault)};
    }
  return result;
}

parsed parse_word(std::string_view text) {
  for (const auto& [word, meaning] : words)
    if (word == text) return parse_fields(meaning);
  constexpr std::string_view every = "@every ";
  if (!text.starts_with(every))
    return tl::unexpected{"unrecognized descriptor: " + std::string(text)};
  const auto length = parse_duration(text.substr(every.size()));
  if (!length) return tl::unexpected{"failed to parse duration " + std::string(text)};
  cron_schedule result;
  // Whole seconds, at least one.
  result.every_seconds = std::max<std::int64_t>(*length / 1'000'000'000, 1);
  return result;
}

}  // namespace

parsed parse_schedule(std::string_view text) {
  if (text.empty()) return tl::unexpected{std::string{"empty spec string"}};
  for (const std::string_view zone : {"TZ=", "CRON_TZ="}) {
    if (!text.starts_with(zone)) continue;
    const auto space = text.find(' ');
    if (space == std::string_view::npos)
      return tl::unexpected{"provided bad location " + std::string(text)};
    text.remove_prefix(space + 1);
    break;
  }
  return text.starts_with('@') ? parse_word(text) : parse_fields(text);
}

error_messages check_schedule(std::string_view s) {
  auto schedule = parse_schedule(s);
  if (schedule) return {};
  return {std::move(schedule.error())};
}

}  // namespace troupe::api
