// Checks all that must hold of a store on disk: the change log, the bases and the objects agree.
// Reads everything; for tests and a tool, not for a running node.
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
  std::vector<std::string> problems;  // none: all is well
};

expected<verification> verify(const engine& disk);
// Opens the directory, which no other process may have open, and leaves it as it is.
expected<verification> verify(const std::string& directory);

// Whether there are files of a store in a directory, whole or not.
bool is_store(const std::string& directory);

}  // namespace troupe::persistence
