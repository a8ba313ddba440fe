// A subscription at the watcher, and the index that finds the subscriptions that a change concerns.
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
    std::string after;  // the last key sent
    runtime::time_point deadline;
  };

  stream_key key;
  runtime::actor_ref subscriber;
  std::uint64_t serial = 0;  // distinguishes it from an earlier stream of the same key
  watch_view view;
  std::int64_t credit = 0;
  bool bookmarks = false;
  // While set, the initial state is being sent.
  std::optional<initial_state> initial;
  // Everything up to this revision was sent; while `live`, it must not be sent again.
  revision position = 0;
  bool live = false;  // receives each batch as it is committed
  // Deadline of a log read in flight, after which it is requested again.
  runtime::time_point reading_until{};
  bool retry = false;  // retried in the next round
  bool dead = false;

  bool reading() const noexcept { return reading_until != runtime::time_point{}; }
};

using stream_list = std::vector<watch_stream*>;

// Finds the streams that a change may concern without visiting others: a stream is in exactly one
// list, the narrowest for its view (its node, its key or namespace, its resource, everything). It
// does not own the streams: the watcher adds and removes them.
class stream_index {
 public:
  using lists = std::unordered_map<std::string, stream_list>;

  // The streams of one resource.
  struct group {
    stream_list streams;  // of the whole resource, perhaps with a filter
    lists by_prefix;      // of one key, or of keys with a prefix that ends with '/'
    lists by_node;        // of the pods of one node

    bool empty() const noexcept { return streams.empty() && by_prefix.empty() && by_node.empty(); }
  };

  void add(watch_stream& s);
  void remove(watch_stream& s);
  // Null if no stream watches the resource. "": the streams that watch everything.
  const group* find(std::string_view resource) const;

 private:
  std::unordered_map<std::string, group> groups_;
};

// The prefixes by which a stream may watch `key`, shortest first: for "/registry/pods/a/b" of
// "/registry/pods/" they are "/registry/pods/a/" and the key itself.
template <class F>
void each_prefix(std::string_view key, std::string_view resource, F visit) {
  for (auto at = key.find('/', resource.size()); at != key.npos; at = key.find('/', at + 1))
    visit(key.substr(0, at + 1));
  visit(key);
}

}  // namespace troupe::actors
