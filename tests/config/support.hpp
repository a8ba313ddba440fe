// A folder that goes with the test, and short ways to load.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "config/load.hpp"

namespace troupe::config::test {

class scratch_folder {
 public:
  scratch_folder() {
    std::string name = std::filesystem::temp_directory_path() / "troupe-config-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The lines that a reading refuses, joined; empty when it refuses nothing.
inline std::string lines(const problems& all) {
  std::string result;
  for (const auto& line : all)
    result += (result.empty() ? "" : "\n") + line;
  return result;
}

inline std::string refused(const inputs& from) {
  const auto loaded = load(from);
  return loaded ? "" : lines(loaded.error());
}

inline std::string refused_flag(const std::string& name, const std::string& text) {
  return refused({.flags = {{name, text}}, .host_name = "host"});
}

}  // namespace troupe::config::test
