// The child that is etcd. It ends with this object and, by SIGTERM, with the thread that started
// it, however that ends. Not thread safe.
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
  // Its output goes to our stderr; it gets no ETCD_… of our environment. The error names the
  // package where the program is missing.
  static tl::expected<std::unique_ptr<etcd_process>, std::string> start(
      const std::vector<std::string>& command);
  ~etcd_process();
  etcd_process(const etcd_process&) = delete;
  etcd_process& operator=(const etcd_process&) = delete;

  // "with code 1", "by signal 9"; nothing while it runs.
  std::optional<std::string> ended();
  // SIGTERM, and SIGKILL when that takes longer than `limit`.
  void end(std::chrono::milliseconds limit);

 private:
  explicit etcd_process(pid_t id) : id_{id} {}
  pid_t id_;
  std::optional<std::string> ended_;
};

// Why that program cannot be run; empty where it can.
std::string missing_program(const std::string& binary);

}  // namespace troupe::tools
