#include "persistence/log/revision_gaps.hpp"

#include <algorithm>
#include <sstream>

#include "persistence/defaults.hpp"
#include "persistence/format/record.hpp"

namespace troupe::persistence {

std::optional<revision_gaps> revision_gaps::read(std::string_view text) {
  revision_gaps result;
  std::istringstream words{std::string{text}};
  for (std::string word; words >> word;) {
    const auto dash = word.find('-');
    if (dash == word.npos) return std::nullopt;
    const auto after = read_number(std::string_view{word}.substr(0, dash));
    const auto to = read_number(std::string_view{word}.substr(dash + 1));
    const bool in_order =
        after && to && *after < *to && (result.gaps_.empty() || result.gaps_.back().to <= *after);
    if (!in_order) return std::nullopt;
    result.gaps_.push_back({*after, *to});
  }
  return result;
}

std::string revision_gaps::str() const {
  std::string text;
  for (const auto& [after, to] : gaps_)
    text += (text.empty() ? "" : " ") + std::to_string(after) + "-" + std::to_string(to);
  return text;
}

void revision_gaps::add(revision after, revision to) {
  if (after >= to) return;
  if (!gaps_.empty() && gaps_.back().to >= after) {
    gaps_.back().to = to;
    return;
  }
  if (gaps_.size() == defaults::revision_gaps) gaps_.erase(gaps_.begin());
  gaps_.push_back({after, to});
}

void revision_gaps::forget(revision up_to) {
  std::erase_if(gaps_, [&](const gap& each) { return each.to <= up_to; });
}

revision revision_gaps::before_last(revision current, revision count) const {
  for (auto each = gaps_.rbegin(); each != gaps_.rend(); ++each) {
    const auto used = current - std::min(current, each->to);
    if (used >= count) break;
    count -= used;
    current = std::min(current, each->after);
  }
  return current - std::min(current, count);
}

revision revision_gaps::next(revision at) const {
  revision next = at + 1;
  for (const auto& each : gaps_)
    if (each.after < next && next <= each.to) next = each.to + 1;
  return next;
}

revision revision_gaps::known_from() const {
  return gaps_.size() < defaults::revision_gaps ? 0 : gaps_.front().after;
}

revision revision_gaps::used(revision after, revision to) const {
  auto result = to - std::min(to, after);
  for (const auto& each : gaps_) {
    const auto from = std::max(each.after, after), end = std::min(each.to, to);
    if (from < end) result -= end - from;
  }
  return result;
}

}  // namespace troupe::persistence
