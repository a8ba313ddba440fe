// Maps a change to the event for one subscriber: the rules of a watch with a filter, as pure
// functions.
//
//   before  after   event
//   out     in      ADDED     (created, or came into the filter)
//   in      in      MODIFIED
//   in      out     DELETED   (removed, or left the filter): the last state that was inside,
//                             stamped with the revision of the change
//   out     out     nothing
//
// kubernetes: pkg/tools/etcd_tools_watch.go of 2014; today apiserver/pkg/storage/etcd3/watcher.go.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "actors/core/event_list.hpp"
#include "actors/core/messages.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors {

// "/registry/pods/" of "/registry/pods/default/web"; empty for a key below no resource.
std::string_view resource_of(std::string_view key) noexcept;

// The node of an object (kind_row::node), as of a bound pod; empty if it has none.
std::string_view node_of(const api::object& object);

struct watch_view {
  std::string prefix;  // ends with '/', or is a key
  object_filter accept;
  std::string on_node;

  bool covers(std::string_view key) const noexcept;
  // `object`'s key must be covered.
  bool shows(const api::object_ptr& object) const;
  // True if both show the same objects: equal prefix and node, and no filter.
  bool is_equivalent(const watch_view& other) const noexcept;
};

// Objects that are created once for all subscribers of some changes: last states stamped with the
// revision at which they left a filter, and copies of compact kinds for subscribers to decode, so
// that the objects in the window stay encoded.
class event_objects {
 public:
  const api::object_ptr& of(const persistence::change& c);
  // The object itself if it is not of a compact kind.
  const api::object_ptr& readable(const api::object_ptr& object);

 private:
  std::unordered_map<const persistence::change*, api::object_ptr> made_;
  std::unordered_map<const api::object*, api::object_ptr> readable_;
};

// Nothing if the change does not concern the view, or if a state could not be decoded (then the
// store has passed a null pointer and reported it).
std::optional<watch_event> event_for(const watch_view& view, const persistence::change& c,
                                     event_objects& left);

}  // namespace troupe::actors
