// Finding one object's changes in the log without reading all of it: each change names the revision
// of the state before it. Reads the disk.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "persistence/store.hpp"

namespace troupe::server {

struct change_walk {
  std::vector<persistence::change> changes;  // the newest first
  // True when the log ended before the object's creation.
  bool cut = false;
  // Of an object that is gone its last change was looked for down to here; 0 when it was known.
  persistence::revision searched_down_to = 0;
};

// The last `limit` changes of the key.
persistence::expected<change_walk> changes_of(const persistence::store& truth,
                                              const std::string& key, std::size_t limit);

// The changes of one transaction; empty when the log does not hold it (any more).
std::vector<persistence::change> changes_at(const persistence::store& truth,
                                            persistence::revision at);

}  // namespace troupe::server
