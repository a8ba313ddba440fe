#include "server/console/change_walk.hpp"

#include <algorithm>

#include "server/console/defaults.hpp"

namespace troupe::server {

using persistence::change;
using persistence::revision;

namespace {

struct last_change {
  revision at = 0;  // 0: not found
  revision searched_down_to = 0;
};

// An object that is gone is in no snapshot: the log is searched backwards, as long as a view may
// take.
persistence::expected<last_change> search(const persistence::store& truth, const std::string& key) {
  const auto until = std::chrono::steady_clock::now() + defaults::search_limit;
  const auto seen = truth.stats();
  auto above = seen.current;
  while (above > seen.compacted && std::chrono::steady_clock::now() < until) {
    const auto begin = above - std::min<revision>(defaults::search_step, above - seen.compacted);
    revision found = 0;
    for (auto after = begin; after < above;) {
      const auto part = truth.changes(after, defaults::search_step);
      if (!part) return tl::make_unexpected(part.error());
      if (part->empty()) break;
      for (const auto& each : *part)
        if (each.key == key && each.at <= above) found = each.at;
      after = part->back().at;
    }
    above = begin;
    if (found != 0) return last_change{found, above + 1};
  }
  return last_change{0, above + 1};
}

}  // namespace

std::vector<change> changes_at(const persistence::store& truth, revision at) {
  if (at == 0) return {};
  auto found = truth.changes(at - 1, 1);
  if (!found) return {};
  std::erase_if(*found, [at](const change& each) { return each.at != at; });
  return std::move(*found);
}

persistence::expected<change_walk> changes_of(const persistence::store& truth,
                                              const std::string& key, std::size_t limit) {
  change_walk walk;
  revision at = 0;
  if (const auto present = truth.read().find(key)) {
    at = present->revision();
  } else {
    const auto last = search(truth, key);
    if (!last) return tl::make_unexpected(last.error());
    at = last->at;
    walk.searched_down_to = last->searched_down_to;
  }
  while (at != 0 && walk.changes.size() < limit) {
    auto all = changes_at(truth, at);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const change& each) { return each.key == key; });
    if (found == all.end()) {
      walk.cut = true;
      break;
    }
    at = found->previous ? found->previous->revision() : 0;
    walk.changes.push_back(std::move(*found));
  }
  return walk;
}

}  // namespace troupe::server
