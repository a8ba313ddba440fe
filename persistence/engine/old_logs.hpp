// The write-ahead logs before the one that is written to: those of earlier runs, which opening
// replays and leaves where they are, and those of this run whose memtable was full. They stay until
// what they hold stands in tables. So each start, and each new log, writes down which there are and
// how long: one that is missing or shorter later has lost writes, and can be named.
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

// Those in a directory with a number from `oldest` up to `newest`, in order.
std::vector<old_log> find_old_logs(const std::string& directory, std::uint64_t oldest,
                                   std::uint64_t newest);

// "number:size number:size"; nothing for any other text.
std::string to_text(const std::vector<old_log>& logs);
std::optional<std::vector<old_log>> read_old_logs(std::string_view text);

// What has happened to one of `noted`: all from `oldest` on are still needed, and none ever shrinks
// before it goes.
std::optional<std::string> find_lost_log(const std::string& directory,
                                         const std::vector<old_log>& noted, std::uint64_t oldest);

}  // namespace troupe::persistence
