// The readable part of a damaged store. Opens it in mode `rescue`: use it only on a copy.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "persistence/error.hpp"

namespace troupe::persistence {

struct damaged_state {
  struct state {
    revision created = 0;
    revision modified = 0;
    std::string bytes;
  };

  std::map<std::string, state> objects;  // the newest readable state of each object
  std::string cluster_id;                // empty: lost
  revision at = 0;                       // no later revision was ever given to a client
  std::vector<std::string> losses;       // one line for each loss
};

// Fails with `corrupt` if nothing can be read at all.
expected<damaged_state> read_damaged(const std::string& copy);

}  // namespace troupe::persistence
