// The machine's processes and their usage, for containers without a control group that counts.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe::actors {

struct process_entry {
  pid_t pid = 0, parent = 0, session = 0;
  std::uint64_t ticks = 0;  // of the processors: own, and of ended children
  std::uint64_t pages = 0;  // in memory
};

// Parses /proc/PID/stat; returns nothing if it is malformed or the process has ended.
std::optional<process_entry> parse_process_stat(std::string_view text);

// Usage of a tree of processes. Pages that several processes share count for each.
struct process_usage {
  std::uint64_t ticks = 0;
  std::uint64_t pages = 0;
};

class process_table {
 public:
  explicit process_table(std::vector<process_entry> all);
  // Reads /proc, at most `limit` processes: not for an actor's thread.
  static process_table read(std::size_t limit);

  // Usage of a process, its descendants and its whole session; nothing if it does not exist.
  std::optional<process_usage> usage_of(pid_t root) const;

 private:
  std::vector<process_entry> all_;
  std::unordered_multimap<pid_t, std::size_t> children_, session_;  // indexes in `all_`
};

}  // namespace troupe::actors
