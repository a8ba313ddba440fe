// A node that runs containers with a containerd of its own, and a terminal for it.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/programs/private_containerd.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"

namespace troupe::test {

class container_machine {
 public:
  static constexpr auto limit = std::chrono::seconds{180};

  // `wrapper`: the words before the command of containerd.
  container_machine(const std::filesystem::path& folder, const std::string& subnet,
                    const std::vector<std::string>& wrapper = {})
      : folder_{folder}, runtime{folder / "containerd", subnet, wrapper} {
    start();
  }

  void start() {
    node_ = std::make_unique<node>(
        folder_ / "data",
        // Pods use the test's network; this machine's own is not changed.
        std::vector<std::string>{"--runtime", "cri", "--cri-endpoint", runtime.endpoint(),
                                 "--network-mode", "none"});
    const auto all = kubectls();
    if (all.empty()) throw std::runtime_error{"no kubectl is installed"};
    // One for each node, because the port differs.
    at_ = std::make_unique<terminal>(all.back(), folder_ / fmt::format("home-{}", node_->port()),
                                     node_->kubeconfig());
  }
  void kill() {
    node_->signal(SIGKILL);
    node_->wait(limit);
  }

  process_result run(const std::string& command) const { return at_->run(command); }
  // Repeats the command until its output is as wanted.
  std::string until(const std::string& command, const std::string& wanted) const {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
      auto output = run(command).output;
      if (output == wanted || std::chrono::steady_clock::now() > deadline) return output;
    }
  }
  const std::filesystem::path& home() const { return at_->folder(); }

 private:
  const std::filesystem::path folder_;

 public:
  private_containerd runtime;

 private:
  std::unique_ptr<node> node_;
  std::unique_ptr<terminal> at_;
};

}  // namespace troupe::test
