// A containerd of a test's own, with a network and two images made offline: localhost/pause:1 and
// localhost/tools:1, which is busybox. Everything of it is below its folder.
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
  // What a machine lacks for it; nothing: it can be had.
  static std::optional<std::string> missing();

  // Throws std::runtime_error when it does not come up. `subnet` as 10.213.1.0/24, of no other
  // test; without one it has no network. `wrapper`: what its command has before it.
  private_containerd(std::filesystem::path folder, const std::string& subnet,
                     std::vector<std::string> wrapper = {});
  // Kills the containers that are left, and removes their networks.
  ~private_containerd();

  const std::filesystem::path& folder() const { return folder_; }
  std::string endpoint() const { return "unix://" + socket(); }
  std::string socket() const { return folder_ / "containerd.sock"; }
  // SIGKILL. Containers go on.
  void kill();
  void start();
  // What `ctr` prints in the namespace of Kubernetes.
  std::string ctr(const std::string& arguments) const;

 private:
  const std::filesystem::path folder_;
  const std::vector<std::string> wrapper_;
  std::unique_ptr<process> process_;
};

}  // namespace troupe::test
