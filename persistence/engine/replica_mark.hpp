// The file REPLICA marks a directory as a copy of what a shared log holds, so that a store of its
// own is never taken for one that can be fetched again, nor a copy for a store of its own.
#pragma once

#include <filesystem>

#include "persistence/error.hpp"

namespace troupe::persistence {

bool is_replica(const std::filesystem::path& directory);
// Marks a new directory. One with anything else in it is refused (`incompatible`).
expected<void> mark_replica(const std::filesystem::path& directory);
// Removes all but the mark.
void drop_replica(const std::filesystem::path& directory);

}  // namespace troupe::persistence
