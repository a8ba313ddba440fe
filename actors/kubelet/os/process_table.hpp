// The processes of the machine with what they use, for those that no control group counts.
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
  std::uint64_t ticks = 0;  // of the processors: its own, and those of ended children
  std::uint64_t pages = 0;  // in memory
};

// The text of /proc/PID/stat; nothing where it is none, or of a process that has ended.
std::optional<process_entry> parse_process_stat(std::string_view text);

// What a tree of processes used and uses. Pages that several of them share count for each.
struct process_usage {
  std::uint64_t ticks = 0;
  std::uint64_t pages = 0;
};

class process_table {
 public:
  explicit process_table(std::vector<process_entry> all);
  // Reads /proc, at most `limit` processes: not for an actor's thread.
  static process_table read(std::size_t limit);

  // Of a process, its descendants and all of its session. Nothing where it is not there.
  std::optional<process_usage> usage_of(pid_t root) const;

 private:
  std::vector<process_entry> all_;
  std::unordered_multimap<pid_t, std::size_t> children_, session_;  // indexes in `all_`
};

}  // namespace troupe::actors
