#include "persistence/engine/replica_mark.hpp"

#include <spdlog/spdlog.h>

#include <fstream>
#include <optional>
#include <random>

namespace troupe::persistence {

namespace fs = std::filesystem;

namespace {

fs::path file_in(const fs::path& directory) {
  return directory / "REPLICA";
}

// Two lines: "log LOG" and "member MEMBER".
std::optional<replica_mark> read_mark(const fs::path& directory) {
  std::ifstream in{file_in(directory)};
  std::string log_word, member_word;
  replica_mark found;
  in >> log_word >> found.log >> member_word >> found.member;
  if (!in || log_word != "log" || member_word != "member") return std::nullopt;
  return found;
}

// Atomic: if the process is killed here, the old file stays.
expected<replica_mark> write_mark(const fs::path& directory, const std::string& log) {
  std::random_device random;
  replica_mark made{log, fmt::format("{:08x}{:08x}", random(), random())};
  std::error_code failed;
  // It will contain secrets.
  if (fs::create_directories(directory, failed))
    fs::permissions(directory, fs::perms::owner_all, failed);
  if (failed) return fail(errc::io, fmt::format("{}: {}", directory.string(), failed.message()));
  const auto next = file_in(directory).string() + ".new";
  std::ofstream{next} << "log " << made.log << "\nmember " << made.member << "\n";
  fs::rename(next, file_in(directory), failed);
  if (failed || !read_mark(directory))
    return fail(errc::io, fmt::format("{} cannot be written", file_in(directory).string()));
  return made;
}

}  // namespace

bool is_replica(const fs::path& directory) {
  std::error_code failed;
  return fs::exists(file_in(directory), failed);
}

error replica_refusal(const fs::path& directory) {
  return {errc::incompatible,
          fmt::format("{} is a replica of a cluster's log, not an independent store: data that is "
                      "missing there is fetched when a node starts with --store etcd",
                      directory.string())};
}

expected<replica_mark> mark_replica(const fs::path& directory, const std::string& log) {
  if (is_replica(directory)) {
    auto found = read_mark(directory);
    if (found && found->log == log) return std::move(*found);
    spdlog::warn("store: the replica in {} is of log {}, not of {}: dropping it",
                 directory.string(), found ? found->log : "unknown", log);
    drop_replica(directory);
    return write_mark(directory, log);
  }
  std::error_code failed;
  if (fs::exists(directory, failed) && !fs::is_empty(directory, failed))
    return fail(errc::incompatible,
                fmt::format("{} holds an independent store, not a replica of a shared log: choose "
                            "another data directory",
                            directory.string()));
  return write_mark(directory, log);
}

std::string marked_log(const fs::path& directory) {
  return read_mark(directory).value_or(replica_mark{}).log;
}

void drop_replica(const fs::path& directory) {
  std::error_code failed;
  for (const auto& each : fs::directory_iterator{directory, failed})
    if (each.path() != file_in(directory)) fs::remove_all(each.path(), failed);
}

}  // namespace troupe::persistence
