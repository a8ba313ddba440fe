#include "actors/watch/watch_stream.hpp"

namespace troupe::actors {
namespace {

// The map that contains a view's list, and the list's name in it; no map: the group's own list.
struct place {
  stream_index::lists* among;
  const std::string* name;
};

place place_of(stream_index::group& group, const watch_view& view) {
  const auto resource = resource_of(view.prefix);
  if (resource.empty()) return {nullptr, nullptr};
  if (!view.on_node.empty()) return {&group.by_node, &view.on_node};
  if (resource != view.prefix) return {&group.by_prefix, &view.prefix};
  return {nullptr, nullptr};
}

}  // namespace

void stream_index::add(watch_stream& s) {
  auto& group = groups_[std::string{resource_of(s.view.prefix)}];
  const auto [among, name] = place_of(group, s.view);
  (among != nullptr ? (*among)[*name] : group.streams).push_back(&s);
}

void stream_index::remove(watch_stream& s) {
  const auto found = groups_.find(std::string{resource_of(s.view.prefix)});
  auto& group = found->second;
  const auto [among, name] = place_of(group, s.view);
  auto& list = among != nullptr ? among->at(*name) : group.streams;
  std::erase(list, &s);
  if (among != nullptr && list.empty()) among->erase(*name);
  if (group.empty()) groups_.erase(found);
}

const stream_index::group* stream_index::find(std::string_view resource) const {
  const auto found = groups_.find(std::string{resource});
  return found == groups_.end() ? nullptr : &found->second;
}

}  // namespace troupe::actors
