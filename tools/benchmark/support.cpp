#include "benchmark/support.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace troupe::bench {

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock::now().time_since_epoch())
      .count();
}

double percentile(std::vector<double> values, double percent) {
  const auto at = static_cast<std::ptrdiff_t>(percent / 100 * double(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

std::string read_file(const std::string& path) {
  std::ifstream in{path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

double memory_mb(pid_t process) {
  std::ifstream in{fmt::format("/proc/{}/status", process)};
  for (std::string line; std::getline(in, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::atof(line.c_str() + 6) / 1024;
  die(fmt::format("process {} has ended", process));
}

scratch::scratch() {
  std::string name = "./troupe-bench-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) die("cannot make a folder here");
  path_ = std::filesystem::absolute(name).string();
}

scratch::~scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void die(const std::string& reason) {
  throw std::runtime_error{reason};
}

}  // namespace troupe::bench
