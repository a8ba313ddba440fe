// The readable part of a damaged store. It may be opened in the crudest way: a copy.
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

  std::map<std::string, state> objects;  // the newest readable state of each
  std::string cluster_id;                // empty: lost
  revision at = 0;                       // no later one was ever given to a client
  std::vector<std::string> losses;       // what is missing, a line each
};

// `corrupt` when nothing can be read at all.
expected<damaged_state> read_damaged(const std::string& copy);

}  // namespace troupe::persistence
