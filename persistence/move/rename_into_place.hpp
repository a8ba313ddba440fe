// Renames a finished file or directory to its final name: atomically, also in case of a power
// failure.
#pragma once

#include <string>

#include "persistence/error.hpp"

namespace troupe::persistence {

// The caller must have synced the file, or the files of the directory.
expected<void> rename_into_place(const std::string& partial, const std::string& place);

}  // namespace troupe::persistence
