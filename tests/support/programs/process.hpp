// A program that a test starts, signals, and ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace troupe::test {

class process {
 public:
  // Starts the command, found in PATH; its stderr is appended to `log`. Its environment is ours
  // without TROUPE_*, and node_settings.hpp. Throws std::runtime_error if it cannot be started.
  process(std::vector<std::string> command, const std::filesystem::path& log);
  // Ends it with SIGTERM, and with SIGKILL if it does not end.
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  pid_t id() const noexcept { return id_; }
  void signal(int number) const;
  // The exit code, or minus the number of the signal; nullopt if it still runs at the limit. Later
  // calls return the first result.
  std::optional<int> wait(std::chrono::milliseconds limit);
  // The next line of its stdout, without line end; at the time-out or the end, the received part.
  std::string read_line(std::chrono::milliseconds pause_limit) const;

 private:
  pid_t id_ = -1;
  int output_ = -1;
  std::optional<int> ended_;
};

// The last thousand characters.
std::string last_part(const std::string& text);

}  // namespace troupe::test
