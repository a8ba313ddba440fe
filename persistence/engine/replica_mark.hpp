// The file REPLICA marks a directory as a copy of what a shared log holds, and says of which one: a
// store of its own is never taken for one that can be fetched again, nor a copy for a store of its
// own, and the copy of one log is never continued with the steps of another.
#pragma once

#include <filesystem>
#include <string>

#include "persistence/error.hpp"

namespace troupe::persistence {

struct replica_mark {
  std::string log;     // its identity
  std::string member;  // the name of this copy among all; made once
};

bool is_replica(const std::filesystem::path& directory);
// What is told to whoever takes it for a store of its own; `incompatible`.
error replica_refusal(const std::filesystem::path& directory);
// Marks a new directory. A copy of another log, or one whose mark cannot be read, is dropped and
// marked again. A directory with anything else in it is refused (`incompatible`).
expected<replica_mark> mark_replica(const std::filesystem::path& directory, const std::string& log);
// Removes all but the mark.
void drop_replica(const std::filesystem::path& directory);

}  // namespace troupe::persistence
