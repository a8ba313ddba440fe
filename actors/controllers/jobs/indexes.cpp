#include "actors/controllers/jobs/indexes.hpp"

#include <algorithm>
#include <optional>

#include "api/values/integer.hpp"
#include "api/values/text_parts.hpp"

namespace troupe::actors::jobs {

namespace {

std::optional<std::int32_t> number(std::string_view text) {
  const auto value = api::parse_integer<std::int32_t>(text);
  if (!value || *value < 0) return std::nullopt;
  return *value;
}

}  // namespace

index_set index_set::parse(std::string_view text, std::int32_t limit) {
  std::vector<run> found;
  while (!text.empty()) {
    const auto part = api::take_part(text, ',');
    const auto dash = part.find('-');
    const auto first = number(part.substr(0, dash));
    const auto last = dash == part.npos ? first : number(part.substr(dash + 1));
    if (!first || !last || *first > *last || *first >= limit) continue;
    found.push_back({*first, std::min(*last, limit - 1)});
  }
  // In order, so that each is added at the end.
  std::sort(found.begin(), found.end(),
            [](const run& a, const run& b) { return a.first < b.first; });
  index_set result;
  for (const auto& each : found)
    result.add(each);
  return result;
}

void index_set::insert(std::int32_t index) {
  if (index >= 0) add({index, index});
}

void index_set::add(run more) {
  // Merges it with overlapping and adjacent runs.
  const auto from = std::lower_bound(
      runs_.begin(), runs_.end(), more.first,
      [](const run& each, std::int32_t first) { return std::int64_t{each.last} + 1 < first; });
  auto to = from;
  for (; to != runs_.end() && to->first <= std::int64_t{more.last} + 1; ++to) {
    more.first = std::min(more.first, to->first);
    more.last = std::max(more.last, to->last);
  }
  runs_.insert(runs_.erase(from, to), more);
}

std::int64_t index_set::first_absent(std::int64_t from) const {
  const auto found =
      std::lower_bound(runs_.begin(), runs_.end(), from,
                       [](const run& each, std::int64_t of) { return each.last < of; });
  return found != runs_.end() && found->first <= from ? std::int64_t{found->last} + 1 : from;
}

std::int64_t index_set::size() const {
  std::int64_t total = 0;
  for (const auto& each : runs_)
    total += std::int64_t{each.last} - each.first + 1;
  return total;
}

std::int64_t index_set::size_of_intersection(const index_set& other) const {
  std::int64_t total = 0;
  for (auto a = runs_.begin(), b = other.runs_.begin();
       a != runs_.end() && b != other.runs_.end();) {
    const auto first = std::max(a->first, b->first), last = std::min(a->last, b->last);
    if (first <= last) total += std::int64_t{last} - first + 1;
    a->last < b->last ? ++a : ++b;
  }
  return total;
}

bool index_set::includes(const index_set& other) const {
  return size_of_intersection(other) == other.size();
}

std::string index_set::str() const {
  std::string text;
  for (const auto& [first, last] : runs_) {
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last > first) text += (last - first > 1 ? '-' : ',') + std::to_string(last);
  }
  return text;
}

}  // namespace troupe::actors::jobs
