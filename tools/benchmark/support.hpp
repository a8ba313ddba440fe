// Shared parts of the rows: time, percentiles, a folder on the disk, and a way to abort.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe::bench {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start);
// By the clock, in microseconds.
std::int64_t now_us();

// `percent` from 0 to 100; needs at least one value.
double percentile(std::vector<double> values, double percent);

std::string read_file(const std::string& path);

// The resident memory of a process.
double memory_mb(pid_t process);

// A folder below the current one, so that the bench measures the disk on which it was started;
// removed at the end.
class scratch {
 public:
  scratch();
  ~scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// Aborts the run when a part of a measurement failed: throws a std::runtime_error that main prints;
// the nodes that the run has started end too.
[[noreturn]] void die(const std::string& reason);

}  // namespace troupe::bench
