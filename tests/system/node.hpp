// The program itself, run as a node in a folder of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/programs/process.hpp"
#include "support/wire.hpp"

namespace troupe::test {

class node {
 public:
  // Runs `troupe node --listen 127.0.0.1:0 --data-dir <folder> ...` with its log in <folder>.log,
  // after the words of `wrapper`; `troupe join ...` if the first flag is "join". It ends with
  // this object. If it does not report ready, throws std::runtime_error with the end of the log and
  // the exit status.
  node(const std::filesystem::path& folder, const std::vector<std::string>& flags,
       const std::vector<std::string>& wrapper = {});

  pid_t id() const noexcept { return process_->id(); }
  const std::string& host() const noexcept { return host_; }
  std::uint16_t port() const noexcept { return port_; }
  const std::filesystem::path& kubeconfig() const noexcept { return kubeconfig_; }
  // Connection options of its admin.
  wire_options where() const;

  void signal(int number) const { process_->signal(number); }
  // The exit code, or minus the number of the signal; nullopt if it still runs at the limit.
  std::optional<int> wait(std::chrono::milliseconds limit) { return process_->wait(limit); }

 private:
  std::unique_ptr<process> process_;
  std::string host_;
  std::uint16_t port_ = 0;
  std::filesystem::path folder_;
  std::filesystem::path kubeconfig_;
};

std::string read_file(const std::filesystem::path& path);

// VmRSS of a process.
std::size_t resident_kb(pid_t id);

}  // namespace troupe::test
