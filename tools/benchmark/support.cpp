#include "benchmark/support.hpp"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace troupe::bench {

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
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
