// Finding one object's changes in the log without reading all of it: each change names the revision
// of the state before it. Reads the disk.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "persistence/store/store.hpp"

namespace troupe::server {

enum class walk_end : std::uint8_t {
  creation,
  log,    // it does not go further back
  limit,  // there are more changes
};

struct change_walk {
  std::vector<persistence::change> changes;  // the newest first
  walk_end end = walk_end::creation;
  // The object as it is, where the log does not hold even its last change; else null.
  api::object_ptr untold = {};
  // Of an object that is gone its last change was looked for down to here; 0 when it was known.
  persistence::revision searched_down_to = 0;
};

// `all`: what the key held before the present object was created is looked for as well, as long as
// a search may take.
enum class lives : std::uint8_t { last, all };

// The last `limit` changes of the key.
persistence::expected<change_walk> changes_of(const persistence::store& store,
                                              const std::string& key, std::size_t limit,
                                              lives life = lives::last);

// The changes of one transaction; empty when the log does not hold it (any more).
std::vector<persistence::change> changes_at(const persistence::store& store,
                                            persistence::revision at);

}  // namespace troupe::server
