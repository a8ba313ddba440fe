#include "persistence/engine/replica_mark.hpp"

#include <spdlog/fmt/fmt.h>

#include <fstream>

namespace troupe::persistence {

namespace fs = std::filesystem;

namespace {

fs::path mark_of(const fs::path& directory) {
  return directory / "REPLICA";
}

}  // namespace

bool is_replica(const fs::path& directory) {
  std::error_code failed;
  return fs::exists(mark_of(directory), failed);
}

expected<void> mark_replica(const fs::path& directory) {
  if (is_replica(directory)) return {};
  std::error_code failed;
  if (fs::exists(directory, failed) && !fs::is_empty(directory, failed))
    return fail(errc::incompatible,
                fmt::format("{} holds a store of its own, not a copy of a shared one: choose "
                            "another data directory",
                            directory.string()));
  fs::create_directories(directory, failed);
  std::ofstream{mark_of(directory)} << "a copy of what the cluster's log holds\n";
  if (!is_replica(directory))
    return fail(errc::io, fmt::format("{} cannot be written", mark_of(directory).string()));
  return {};
}

void drop_replica(const fs::path& directory) {
  std::error_code failed;
  for (const auto& each : fs::directory_iterator{directory, failed})
    if (each.path() != mark_of(directory)) fs::remove_all(each.path(), failed);
}

}  // namespace troupe::persistence
