// The program itself, as a node in a folder of its own.
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
  // `troupe node --listen 127.0.0.1:0 --data-dir <folder> ...`, its log in <folder>.log, behind
  // `wrapper` where that is not empty; `troupe join ...` where the first flag is "join"; ended with
  // this object. Throws std::runtime_error with the end of the log, and how it ended, when it does
  // not say that it is ready.
  node(const std::filesystem::path& folder, const std::vector<std::string>& flags,
       const std::vector<std::string>& wrapper = {});

  pid_t id() const noexcept { return process_->id(); }
  const std::string& host() const noexcept { return host_; }
  std::uint16_t port() const noexcept { return port_; }
  const std::filesystem::path& kubeconfig() const noexcept { return kubeconfig_; }
  // Where its admin's connections go to.
  wire_options where() const;

  void signal(int number) const { process_->signal(number); }
  // The exit code, or minus the number of the signal; nothing when it still runs at the limit.
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
