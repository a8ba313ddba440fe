#include "actors/watch_stream.hpp"

#include <algorithm>

namespace troupe::actors {

std::vector<watch_stream*>& stream_index::place(watch_stream& s) {
  auto& group = groups_[std::string{resource_of(s.view.prefix)}];
  return s.view.on_node.empty() ? group.streams : group.by_node[s.view.on_node];
}

void stream_index::add(watch_stream& s) {
  place(s).push_back(&s);
}

void stream_index::remove(watch_stream& s) {
  std::erase(place(s), &s);
  const auto found = groups_.find(std::string{resource_of(s.view.prefix)});
  std::erase_if(found->second.by_node, [](const auto& entry) { return entry.second.empty(); });
  if (found->second.streams.empty() && found->second.by_node.empty()) groups_.erase(found);
}

const stream_index::group* stream_index::find(std::string_view resource) const {
  const auto found = groups_.find(std::string{resource});
  return found == groups_.end() ? nullptr : &found->second;
}

}  // namespace troupe::actors
