// A containerd for one test, with a network and two images built offline: localhost/pause:1 and
// localhost/tools:1, which is busybox. All its files are below its folder.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/programs/process.hpp"

namespace troupe::test {

class private_containerd {
 public:
  // The missing prerequisite of the machine; nullopt if it can run.
  static std::optional<std::string> missing();

  // Throws std::runtime_error if it does not start. `subnet` as 10.213.1.0/24, used by no other
  // test; without one it has no network. `wrapper`: the words before its command.
  private_containerd(std::filesystem::path folder, const std::string& subnet,
                     std::vector<std::string> wrapper = {});
  // Kills the remaining containers, and removes their networks.
  ~private_containerd();

  const std::filesystem::path& folder() const { return folder_; }
  std::string endpoint() const { return "unix://" + socket(); }
  std::string socket() const { return folder_ / "containerd.sock"; }
  // Sends SIGKILL. Containers keep running.
  void kill();
  void start();
  // The output of `ctr` in Kubernetes' namespace.
  std::string ctr(const std::string& arguments) const;

 private:
  const std::filesystem::path folder_;
  const std::vector<std::string> wrapper_;
  std::unique_ptr<process> process_;
};

}  // namespace troupe::test
