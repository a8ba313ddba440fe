// Makes a store that opens from one that does not: readable objects are kept, the losses are named.
// Never done by a running node; only on a user's request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "persistence/error.hpp"

namespace troupe::persistence {

struct salvage_report {
  std::string damage;  // why the store was refused; empty: it is good, and nothing was done
  std::string aside;   // where its files are now
  revision at = 0;     // the store goes on after this revision, and its history begins there
  std::uint64_t objects = 0;
  // What is missing, and what was taken from where: a line each.
  std::vector<std::string> losses;
};

// The directory becomes a store with the newest readable state of each object and without history;
// what was there is moved next to it, untouched. Needs room for three copies. Fails, and changes
// nothing, when the directory is in use (`locked`), is of another format or holds nothing to read.
expected<salvage_report> salvage(const std::string& directory);

}  // namespace troupe::persistence
