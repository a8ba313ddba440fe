// Finds the changes of one object in the log without reading the whole log: each change has the
// revision of the state before it. Reads from disk.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "persistence/store/store.hpp"

namespace troupe::server {

enum class walk_end : std::uint8_t {
  creation,
  log,    // the log does not reach further back
  limit,  // there are more changes
};

struct change_walk {
  std::vector<persistence::change> changes;  // the newest first
  walk_end end = walk_end::creation;
  // The object's current state if the log does not even have its last change; else null.
  api::object_ptr unlogged = {};
  // For a removed object: the revision down to which its last change was searched; 0: it was known.
  persistence::revision searched_down_to = 0;
};

// `all`: also searches for earlier objects with the key, within the time limit of a
// search.
enum class lives : std::uint8_t { last, all };

// The last `limit` changes of the key.
persistence::expected<change_walk> changes_of(const persistence::store& store,
                                              const std::string& key, std::size_t limit,
                                              lives life = lives::last);

// The changes of one transaction; empty if the log does not have it (any more).
std::vector<persistence::change> changes_at(const persistence::store& store,
                                            persistence::revision at);

}  // namespace troupe::server
