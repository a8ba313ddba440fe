// A control group of one controller, version 1 or 2, which holds processes while it is used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace troupe::test {

class control_group {
 public:
  // "pids" or "memory". Null, and the test is skipped, if none can be created.
  static std::unique_ptr<control_group> make(const std::string& controller);
  ~control_group();
  control_group(const control_group&) = delete;
  control_group& operator=(const control_group&) = delete;

  void limit(const std::string& most) const;
  std::int64_t current() const;
  // The prefix that runs a command in it: as words, and as text for a shell.
  std::vector<std::string> wrapper() const;
  std::string prefix() const;

 private:
  control_group(std::filesystem::path path, std::string limit_file, std::string usage_file);

  const std::filesystem::path path_;
  const std::string limit_file_, usage_file_;
};

}  // namespace troupe::test
