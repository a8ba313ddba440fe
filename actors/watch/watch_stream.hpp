// One subscription at the watcher, and the index by which a change finds those that may see it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/watch/watch_view.hpp"
#include "persistence/tree/snapshot.hpp"
#include "runtime/actor_ref.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

struct stream_key {
  std::uint64_t actor = 0;
  std::uint64_t id = 0;
  auto operator<=>(const stream_key&) const = default;
};

struct watch_stream {
  struct initial_state {
    persistence::snapshot state;
    std::string after;  // the last key handed out
    runtime::time_point deadline;
  };

  stream_key key;
  runtime::actor_ref subscriber;
  std::uint64_t serial = 0;  // tells it from an earlier one of the same key
  watch_view view;
  std::int64_t credit = 0;
  bool bookmarks = false;
  // While set, the current state is being handed out.
  std::optional<initial_state> initial;
  // Everything up to here has been sent; while `live`, changes at or before it must not be sent.
  revision position = 0;
  bool live = false;  // sees each batch as it comes
  // A part of the log is on its way; if it has not come by then it is asked for again.
  runtime::time_point reading_until{};
  bool retry = false;  // the next round tries again
  bool dead = false;

  bool reading() const noexcept { return reading_until != runtime::time_point{}; }
};

using stream_list = std::vector<watch_stream*>;

// Finds the streams that a change may concern, without a look at any other: a stream stands in
// exactly one list, the narrowest that its view allows (its node, its key or namespace, its
// resource, everything). Not the owner: the watcher puts streams in and takes them out.
class stream_index {
 public:
  using lists = std::unordered_map<std::string, stream_list>;

  // The streams of one resource.
  struct group {
    stream_list streams;  // that look at all of it, perhaps through a filter
    lists by_prefix;      // at one key, or at keys with a prefix that ends with '/'
    lists by_node;        // at the pods of one node

    bool empty() const noexcept { return streams.empty() && by_prefix.empty() && by_node.empty(); }
  };

  void add(watch_stream& s);
  void remove(watch_stream& s);
  // Null when no stream watches that resource. "" are those that watch everything.
  const group* find(std::string_view resource) const;

 private:
  std::unordered_map<std::string, group> groups_;
};

// The prefixes by which a stream may look at `key`, the shortest first: for "/registry/pods/a/b" of
// "/registry/pods/" they are "/registry/pods/a/" and the key itself.
template <class F>
void each_prefix(std::string_view key, std::string_view resource, F visit) {
  for (auto at = key.find('/', resource.size()); at != key.npos; at = key.find('/', at + 1))
    visit(key.substr(0, at + 1));
  visit(key);
}

}  // namespace troupe::actors
