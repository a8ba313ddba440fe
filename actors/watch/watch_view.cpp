#include "actors/watch/watch_view.hpp"

#include "api/kind_row.hpp"

namespace troupe::actors {

using persistence::change;
using persistence::change_type;

std::string_view resource_of(std::string_view key) noexcept {
  std::size_t end = 0;
  for (int slashes = 0; end < key.size(); ++end) {
    if (key[end] == '/' && ++slashes == 3) return key.substr(0, end + 1);
  }
  return {};
}

std::string_view node_of(const api::object& object) {
  const auto node = object.kind().row().node;
  return node == nullptr ? std::string_view{} : node(object.content());
}

bool watch_view::covers(std::string_view key) const noexcept {
  return prefix.ends_with('/') ? key.starts_with(prefix) : key == prefix;
}

bool watch_view::shows(const api::object_ptr& object) const {
  if (!object) return false;
  if (!on_node.empty() && node_of(*object) != on_node) return false;
  return !accept || accept(*object);
}

bool watch_view::is_equivalent(const watch_view& other) const noexcept {
  return !accept && !other.accept && prefix == other.prefix && on_node == other.on_node;
}

const api::object_ptr& event_objects::of(const change& c) {
  auto& made = made_[&c];
  if (!made) made = api::object::revised(readable(c.previous), c.at);
  return made;
}

const api::object_ptr& event_objects::readable(const api::object_ptr& object) {
  if (!object || object->stored().empty()) return object;
  auto& made = readable_[object.get()];
  if (!made) made = object->undecoded();
  return made;
}

std::optional<watch_event> event_for(const watch_view& view, const change& c, event_objects& left) {
  const bool removed = c.type == change_type::removed;
  if (!view.covers(c.key) || (!removed && !c.object)) return std::nullopt;
  // A removal has the last state in both fields, unless one of them could not be found.
  const auto& object = left.readable(c.object);
  const auto& previous = left.readable(c.previous);
  const bool was =
      c.type != change_type::created && view.shows(removed && !previous ? object : previous);
  const bool is = !removed && view.shows(object);
  if (is) {
    return watch_event{was ? event_type::modified : event_type::added, c.at, object, previous,
                       c.cause};
  }
  if (!was) return std::nullopt;
  return watch_event{event_type::deleted, c.at, removed && object ? object : left.of(c), previous,
                     c.cause};
}

}  // namespace troupe::actors
