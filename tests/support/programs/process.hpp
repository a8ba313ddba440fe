// A program that a test starts, talks to by signals, and ends.
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
  // Starts the command, found by PATH, with its stderr at the end of `log`. Its environment is ours
  // without TROUPE_*. Throws std::runtime_error when it cannot be started.
  process(std::vector<std::string> command, const std::filesystem::path& log);
  // Ends it with SIGTERM, and with SIGKILL when that does not help.
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  pid_t id() const noexcept { return id_; }
  void signal(int number) const;
  // The exit code, or minus the number of the signal; nothing when it still runs at the limit. The
  // first answer stands.
  std::optional<int> wait(std::chrono::milliseconds limit);
  // The next line of its stdout, without its end; what there is of it when no more comes.
  std::string read_line(std::chrono::milliseconds pause_limit) const;

 private:
  pid_t id_ = -1;
  int output_ = -1;
  std::optional<int> ended_;
};

// The last thousand characters.
std::string last_part(const std::string& text);

}  // namespace troupe::test
