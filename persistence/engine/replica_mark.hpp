// The file REPLICA marks a directory as a replica of a shared log, and names that log. So a
// replica, which can be fetched again, is never mistaken for an independent store or the reverse,
// and a replica of one log is never continued with the steps of another.
#pragma once

#include <filesystem>
#include <string>

#include "persistence/error.hpp"

namespace troupe::persistence {

struct replica_mark {
  std::string log;     // the log's identity
  std::string member;  // the name of this replica, unique among all; made once
};

bool is_replica(const std::filesystem::path& directory);
// The `incompatible` error for opening a replica as an independent store.
error replica_refusal(const std::filesystem::path& directory);
// Marks a new directory. If it is a replica of another log, or its mark cannot be read, empties and
// marks it again. Refuses a directory with any other files (`incompatible`).
expected<replica_mark> mark_replica(const std::filesystem::path& directory, const std::string& log);
// The log in the mark; empty if there is no mark that can be read.
std::string marked_log(const std::filesystem::path& directory);
// Removes all files except the mark.
void drop_replica(const std::filesystem::path& directory);

}  // namespace troupe::persistence
