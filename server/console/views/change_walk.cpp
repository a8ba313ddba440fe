#include "server/console/views/change_walk.hpp"

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

// A removed object is in no snapshot: searches the log backwards from `above`, within the time
// limit of a view.
persistence::expected<last_change> search(const persistence::store& store, const std::string& key,
                                          revision above,
                                          std::chrono::steady_clock::time_point until) {
  const auto compacted = store.stats().compacted;
  while (above > compacted && std::chrono::steady_clock::now() < until) {
    const auto begin = above - std::min<revision>(defaults::search_step, above - compacted);
    revision found = 0;
    for (auto after = begin; after < above;) {
      const auto part = store.changes(after, defaults::search_step);
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

std::vector<change> changes_at(const persistence::store& store, revision at) {
  if (at == 0) return {};
  auto found = store.changes(at - 1, 1);
  if (!found) return {};
  std::erase_if(*found, [at](const change& each) { return each.at != at; });
  return std::move(*found);
}

persistence::expected<change_walk> changes_of(const persistence::store& store,
                                              const std::string& key, std::size_t limit,
                                              lives life) {
  const auto until = std::chrono::steady_clock::now() + defaults::search_limit;
  change_walk walk;
  revision at = 0;
  const auto present = store.read().find(key);
  if (present) {
    at = present->revision();
  } else {
    const auto last = search(store, key, store.stats().current, until);
    if (!last) return tl::make_unexpected(last.error());
    at = last->at;
    walk.searched_down_to = last->searched_down_to;
  }
  while (at != 0 && walk.changes.size() < limit) {
    auto all = changes_at(store, at);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const change& each) { return each.key == key; });
    if (found == all.end()) {
      walk.end = walk_end::log;
      if (walk.changes.empty()) walk.unlogged = present;
      return walk;
    }
    walk.changes.push_back(std::move(*found));
    if (const auto& previous = walk.changes.back().previous) {
      at = previous->revision();
    } else if (life == lives::last) {
      return walk;
    } else {
      const auto before = search(store, key, at - 1, until);
      if (!before) return tl::make_unexpected(before.error());
      at = before->at;
    }
  }
  if (at != 0) walk.end = walk_end::limit;
  return walk;
}

}  // namespace troupe::server
