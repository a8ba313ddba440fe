#include "persistence/replica/upstream_keys.hpp"

#include <algorithm>
#include <utility>

#include "api/scheme.hpp"

namespace troupe::persistence {

namespace {

// The first key after all that begin with `prefix`, whose last byte is '/'.
std::string end_of(std::string prefix) {
  ++prefix.back();
  return prefix;
}

std::string replaced(std::string_view key, const std::string& from, const std::string& to) {
  return to + std::string{key.substr(from.size())};
}

std::vector<upstream_keys::prefixes> moved_kinds() {
  std::vector<upstream_keys::prefixes> moved;
  const auto kinds = api::scheme::instance().kinds();
  for (const auto* each : kinds->stored())
    if (auto there = each->etcd_prefix(); there != each->prefix())
      moved.push_back({each->prefix(), std::move(there)});
  return moved;
}

}  // namespace

bool upstream_keys::range::contains_log_key(std::string_view key) const {
  return key >= there && (end_in_log.empty() || key < end_in_log);
}

const upstream_keys& upstream_keys::instance() {
  static const upstream_keys made{moved_kinds()};
  return made;
}

upstream_keys::upstream_keys(std::vector<prefixes> moved) : moved_{std::move(moved)} {
  // Keys on neither side of a move keep their order.
  std::vector<std::pair<std::string, std::string>> taken;
  for (const auto& [here, there] : moved_) {
    ranges_.push_back({here, end_of(here), there, end_of(there)});
    taken.emplace_back(here, end_of(here));
    taken.emplace_back(there, end_of(there));
  }
  std::sort(taken.begin(), taken.end());
  std::string from;
  for (const auto& [begin, end] : taken) {
    if (from < begin) ranges_.push_back({from, begin, from, begin});
    from = std::max(from, end);
  }
  ranges_.push_back({from, {}, from, {}});
  std::sort(ranges_.begin(), ranges_.end(),
            [](const range& a, const range& b) { return a.from < b.from; });
}

std::string upstream_keys::to_log(std::string_view key) const {
  for (const auto& [here, there] : moved_)
    if (key.starts_with(here)) return replaced(key, here, there);
  return std::string{key};
}

std::optional<std::string> upstream_keys::from_log(std::string_view key) const {
  for (const auto& [here, there] : moved_)
    if (key.starts_with(there)) return replaced(key, there, here);
  for (const auto& [here, there] : moved_)
    if (key.starts_with(here)) return std::nullopt;
  return std::string{key};
}

}  // namespace troupe::persistence
