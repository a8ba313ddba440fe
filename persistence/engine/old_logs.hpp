// The write-ahead logs of earlier runs: opening replays them and leaves them where they are, until
// what they hold stands in tables. So each start writes down which there are and how long: one
// that is missing or shorter later has lost writes, and can be named.
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

// What has happened to one of `noted` that is still needed, as all from `oldest` on are.
std::optional<std::string> find_lost_log(const std::string& directory,
                                         const std::vector<old_log>& noted, std::uint64_t oldest);

}  // namespace troupe::persistence
