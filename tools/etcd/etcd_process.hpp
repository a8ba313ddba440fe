// etcd as a child process. It ends with this object and, by SIGTERM, with the thread that started
// it, however that thread ends. Not thread safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::tools {

class etcd_process {
 public:
  // Its output goes to our stderr; it gets no ETCD_… variable of our environment. If the program is
  // missing, the error names its package.
  static tl::expected<std::unique_ptr<etcd_process>, std::string> start(
      const std::vector<std::string>& command);
  ~etcd_process();
  etcd_process(const etcd_process&) = delete;
  etcd_process& operator=(const etcd_process&) = delete;

  // "with code 1", "by signal 9"; empty while it runs.
  std::optional<std::string> ended();
  // Sends SIGTERM, and SIGKILL if the process has not ended after `limit`.
  void end(std::chrono::milliseconds limit);

 private:
  explicit etcd_process(pid_t id) : id_{id} {}
  pid_t id_;
  std::optional<std::string> ended_;
};

// Why the program cannot be run; empty if it can.
std::string missing_program(const std::string& binary);

}  // namespace troupe::tools
