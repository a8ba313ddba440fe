// Write-ahead logs other than the current one: those of earlier runs, which opening replays and
// keeps, and those of this run whose memtable is full. They stay until their content is in tables.
// Each start and each new log records the numbers and sizes of these files, so that a file that is
// later missing or shorter, and has lost writes, can be named.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::persistence {

struct old_log {
  std::uint64_t number;
  std::uintmax_t size_bytes;
};

// The logs in a directory with numbers from `oldest` up to `newest`, in order.
std::vector<old_log> find_old_logs(const std::string& directory, std::uint64_t oldest,
                                   std::uint64_t newest);

// The text "number:size number:size". Returns nullopt for any other text.
std::string to_text(const std::vector<old_log>& logs);
std::optional<std::vector<old_log>> read_old_logs(std::string_view text);

// Describes the first of `noted` that is missing or shorter. Logs from `oldest` on are still
// needed, and a log never shrinks before it is deleted.
std::optional<std::string> find_lost_log(const std::string& directory,
                                         const std::vector<old_log>& noted, std::uint64_t oldest);

}  // namespace troupe::persistence
