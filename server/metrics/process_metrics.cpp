// The process metrics of Prometheus' client libraries. From /proc; unreadable values are
// omitted.
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/metrics/families.hpp"

namespace troupe::server {
namespace {

// The fields of /proc/self/stat from the third on; the second, a name in parentheses, may contain
// blanks.
std::vector<std::string> stat_fields() {
  std::ifstream file{"/proc/self/stat"};
  std::string text;
  std::getline(file, text);
  const auto end = text.rfind(')');
  std::vector<std::string> fields;
  if (end == std::string::npos) return fields;
  std::istringstream words{text.substr(end + 1)};
  for (std::string word; words >> word;)
    fields.push_back(word);
  return fields;
}

double boot_time_seconds() {
  std::ifstream file{"/proc/stat"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  return 0;
}

}  // namespace

void add_process_metrics(families& out) {
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0) {
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    add_counter(out, "process_cpu_seconds_total", "Processor time of the process.",
                seconds(used.ru_utime) + seconds(used.ru_stime));
  }
  std::error_code problem;
  const std::filesystem::directory_iterator open{"/proc/self/fd", problem};
  if (!problem) {
    add_gauge(out, "process_open_fds", "Open file descriptors.",
              static_cast<double>(std::distance(begin(open), end(open))));
  }
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    add_gauge(out, "process_max_fds", "The limit of open file descriptors.",
              static_cast<double>(files.rlim_cur));
  }
  // proc(5): 20 threads, 22 start time in ticks, 23 virtual size, 24 resident pages.
  const auto fields = stat_fields();
  if (fields.size() < 22) return;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  add_gauge(out, "process_threads", "Threads.", std::stod(fields[17]));
  add_gauge(out, "process_start_time_seconds", "When the process began, since the epoch.",
            boot_time_seconds() + std::stod(fields[19]) / ticks);
  add_gauge(out, "process_virtual_memory_bytes", "Address space.", std::stod(fields[20]));
  add_gauge(out, "process_resident_memory_bytes", "Memory.",
            std::stod(fields[21]) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace troupe::server
