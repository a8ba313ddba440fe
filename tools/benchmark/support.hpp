// What the rows share: time, percentiles, a place on the disk, and how to give up.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace troupe::bench {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start);

// `percent` from 0 to 100; of at least one value.
double percentile(std::vector<double> values, double percent);

std::string read_file(const std::string& path);

// A folder below the current one, so that the bench measures the disk it is started on; gone at the
// end.
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

// A measurement of which a part failed is none: ends the run (std::runtime_error that main prints),
// and with it the nodes that it has started.
[[noreturn]] void die(const std::string& reason);

}  // namespace troupe::bench
