// Turns a damaged store into one that opens: keeps the readable objects and names the losses. Runs
// only on a user's request, never in a running node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "persistence/error.hpp"

namespace troupe::persistence {

struct salvage_report {
  std::string damage;  // why the store was refused; empty: the store is good and was not changed
  std::string old_directory;  // the directory of the old files
  revision at = 0;            // new revisions come after it, and history begins at it
  std::uint64_t objects = 0;
  // Losses, and the source of the recovered parts: one line each.
  std::vector<std::string> losses;
};

// Replaces the directory by a store with the newest readable state of each object and no history;
// moves the old files next to it, unchanged. Needs room for three copies. Fails without a change if
// the directory is in use (`locked`), has another format or holds nothing readable.
expected<salvage_report> salvage(const std::string& directory);

}  // namespace troupe::persistence
