// What was made beside its place gets its name: as a whole or not at all, also after a power
// failure.
#pragma once

#include <string>

#include "persistence/error.hpp"

namespace troupe::persistence {

// What is in the file, or in the files of the directory, is synced by whoever wrote it.
expected<void> put_in_place(const std::string& partial, const std::string& place);

}  // namespace troupe::persistence
