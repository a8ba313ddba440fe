#include "support/programs/private_containerd.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "build_paths.hpp"
#include "support/programs/shell.hpp"

namespace troupe::test {

std::optional<std::string> private_containerd::missing() {
  if (::geteuid() != 0) return "containers need root";
  for (const auto* program : {"containerd", "runc", "ctr", "busybox"})
    if (shell(fmt::format("command -v {}", program)).code != 0)
      return fmt::format("{} is not installed: tools/setup", program);
  if (!std::filesystem::exists("/usr/lib/cni/ptp"))
    return "containernetworking-plugins is not installed: tools/setup";
  if (shell("unshare -m true").code != 0) return "this machine may make no mount namespaces";
  return std::nullopt;
}

private_containerd::private_containerd(std::filesystem::path folder, const std::string& subnet,
                                       std::vector<std::string> wrapper)
    : folder_{std::move(folder)}, wrapper_{std::move(wrapper)} {
  std::filesystem::create_directories(folder_);
  const auto made = shell(fmt::format("{}/system/containers/configure {} {} 2>&1",
                                      TROUPE_SOURCE_DIR "/tests", folder_.string(), subnet));
  if (made.code != 0) throw std::runtime_error{made.output};
  start();
  for (const auto* image : {"pause", "tools"})
    ctr(fmt::format("images import {}/{}.tar", folder_.string(), image));
}

private_containerd::~private_containerd() {
  const auto each = " | xargs -r -n1 ctr -a " + socket() + " -n k8s.io ";
  ctr("tasks ls -q" + each + "tasks rm -f");
  // This also frees their addresses, which the next test uses too.
  ctr("containers ls -q" + each +
      "containers info --spec | grep -o 'cni-[0-9a-f-]*' | sort -u | xargs -r -n1 ip netns delete");
}

void private_containerd::kill() {
  process_->signal(SIGKILL);
  process_->wait(std::chrono::seconds{60});
}

void private_containerd::start() {
  const auto log = folder_ / "containerd.log";
  auto command = wrapper_;
  command.insert(command.end(), {"containerd", "-c", folder_ / "config.toml"});
  process_ = std::make_unique<process>(std::move(command), log);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (shell("ctr -a " + socket() + " version 2>/dev/null").code != 0) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error{"containerd does not answer; its log is " + log.string()};
    std::this_thread::yield();
  }
}

std::string private_containerd::ctr(const std::string& arguments) const {
  return shell("ctr -a " + socket() + " -n k8s.io " + arguments + " 2>&1").output;
}

}  // namespace troupe::test
