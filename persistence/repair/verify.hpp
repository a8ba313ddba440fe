// Checks a whole store on disk: the change log, the bases and the objects must agree. Reads
// everything; for tests and tools, not for a running node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "persistence/engine/engine.hpp"
#include "persistence/tree/state_digest.hpp"

namespace troupe::persistence {

struct verification {
  revision last = 0;
  revision compacted = 0;
  std::uint64_t objects = 0;
  std::uint64_t changes = 0;
  std::uint64_t bases = 0;
  state_digest digest = {};
  std::vector<std::string> problems;  // empty: the store is good
};

expected<verification> verify(const engine& disk);
// Opens the directory, which no other process may have open, and does not change it.
expected<verification> verify(const std::string& directory);

// True if the directory has files of a store, complete or not.
bool is_store(const std::string& directory);

}  // namespace troupe::persistence
