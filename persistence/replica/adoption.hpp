// What is in a log that no troupe has written to: whether it can be served, before anything is
// written there.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "persistence/replica/blocking_log.hpp"

namespace troupe::persistence {

struct adoption {
  std::size_t objects = 0;  // of known kinds
  // Keys that are left alone, by their first two parts: "/registry/ranges" → 2.
  std::map<std::string, std::size_t> foreign;
  std::size_t foreign_keys = 0;
};

// Reads all of it. `invalid` for a value of a known kind that cannot be read: one that is
// encrypted, which the error says with provider and key, or of a version that is not known.
expected<adoption> examine(blocking_log& log);

}  // namespace troupe::persistence
