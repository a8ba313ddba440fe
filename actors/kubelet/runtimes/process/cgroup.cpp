#include "actors/kubelet/runtimes/process/cgroup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "actors/kubelet/runtimes/process/defaults.hpp"

namespace troupe::actors {

namespace fs = std::filesystem;

namespace {

constexpr const char* all_groups = "troupe";
constexpr const char* limiting[] = {"cpu", "memory"};
// Only in version 1: "cpuacct", which may be a hierarchy of its own.
constexpr const char* controllers[] = {"cpu", "cpuacct", "memory", "pids"};

// kubernetes: pkg/kubelet/cm/helpers_linux.go.
constexpr std::int64_t shares_per_cpu = 1024, shares_minimum = 2, shares_maximum = 262'144;
constexpr std::int64_t period_us = 100'000, quota_minimum_us = 1'000;

// A kernel file: one write, which is accepted or rejected as a whole.
bool put(const fs::path& file, std::string_view value) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const auto written = ::write(fd, value.data(), value.size());
  const int code = errno;
  ::close(fd);
  errno = code;
  return written == static_cast<ssize_t>(value.size());
}

std::string text_of(const fs::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

bool has_word(const std::string& text, std::string_view word) {
  std::istringstream in{text};
  for (std::string each; in >> each;)
    if (each == word) return true;
  return false;
}

// The counter in a line like "oom_kill 3".
std::int64_t counter(const fs::path& file, std::string_view name) {
  std::istringstream in{text_of(file)};
  std::string key;
  for (std::int64_t value = 0; in >> key >> value;)
    if (key == name) return value;
  return 0;
}

bool make_folder(const fs::path& path) {
  std::error_code problem;
  fs::create_directory(path, problem);
  if (problem) errno = problem.value();
  return !problem;
}

// A folder created by root is useless for an ordinary user.
bool make_own_folder(const fs::path& path) {
  return make_folder(path) && ::access(path.c_str(), W_OK) == 0;
}

// In version 2 each folder must enable controllers for its children.
bool hand_down(const fs::path& folder, std::string_view controller) {
  return put(folder / "cgroup.subtree_control", fmt::format("+{}", controller));
}

void kill_all(const fs::path& group) {
  if (put(group / "cgroup.kill", "1")) return;
  std::istringstream in{text_of(group / "cgroup.procs")};
  for (pid_t pid = 0; in >> pid;)
    ::kill(pid, SIGKILL);
}

// More than any machine has, but small enough to be multiplied.
constexpr std::int64_t most_milli_cpu = 1'000'000'000'000;

std::int64_t shares_of(std::int64_t milli_cpu) {
  return std::clamp(std::min(milli_cpu, most_milli_cpu) * shares_per_cpu / 1000, shares_minimum,
                    shares_maximum);
}

}  // namespace

std::vector<cgroup_setting> cgroup_settings(const resource_limits& limits, bool version_2) {
  std::vector<cgroup_setting> out;
  const auto shares = shares_of(limits.requested_milli_cpu);
  if (version_2)
    out.push_back({"cpu", "cpu.weight",
                   std::to_string(1 + (shares - shares_minimum) * 9'999 /
                                          (shares_maximum - shares_minimum))});
  else
    out.push_back({"cpu", "cpu.shares", std::to_string(shares)});
  if (limits.milli_cpu) {
    const auto milli_cpu = std::min(*limits.milli_cpu, most_milli_cpu);
    const auto quota = std::max(milli_cpu * period_us / 1000, quota_minimum_us);
    if (version_2) {
      out.push_back({"cpu", "cpu.max", fmt::format("{} {}", quota, period_us)});
    } else {
      out.push_back({"cpu", "cpu.cfs_period_us", std::to_string(period_us)});
      out.push_back({"cpu", "cpu.cfs_quota_us", std::to_string(quota)});
    }
  }
  if (limits.memory_bytes)
    out.push_back({"memory", version_2 ? "memory.max" : "memory.limit_in_bytes",
                   std::to_string(*limits.memory_bytes)});
  return out;
}

cgroup_tree cgroup_tree::find(const fs::path& mount) {
  cgroup_tree tree;
  std::vector<std::string> found;
  const auto offered = text_of(mount / "cgroup.controllers");
  tree.version_2_ = !offered.empty();
  if (tree.version_2_) {
    const auto folder = mount / all_groups;
    if (make_own_folder(folder)) tree.folders_.push_back({"", folder});
    for (const auto* each : controllers)
      if (tree.available() && has_word(offered, each) && hand_down(mount, each) &&
          hand_down(folder, each))
        found.emplace_back(each);
  } else {
    for (const auto* each : controllers) {
      const auto folder = mount / each / all_groups;
      if (!fs::exists(mount / each) || !make_own_folder(folder)) continue;
      tree.folders_.push_back({each, folder});
      found.emplace_back(each);
    }
  }
  tree.keeps_limits_ = std::all_of(std::begin(limiting), std::end(limiting), [&](const auto* each) {
    return std::find(found.begin(), found.end(), each) != found.end();
  });
  if (!tree.available())
    tree.about_ =
        fmt::format("none: cannot make a group below {}: {}", mount.string(), std::strerror(errno));
  else
    tree.about_ =
        fmt::format("cgroup v{} ({})", tree.version_2_ ? 2 : 1,
                    found.empty() ? "no controllers" : fmt::format("{}", fmt::join(found, ", ")));
  return tree;
}

bool cgroup_tree::make_pod_group(const folder& parent, const fs::path& pod,
                                 const resource_limits& limits,
                                 std::vector<std::string>& refused) const {
  const auto group = parent.path / pod;
  if (!make_folder(group)) return false;
  if (version_2_)
    for (const auto* each : controllers)
      hand_down(group, each);
  if (limits.pod_pids && (parent.controller.empty() || parent.controller == "pids") &&
      fs::exists(group / "pids.max") && !put(group / "pids.max", std::to_string(*limits.pod_pids)))
    refused.push_back(fmt::format("cannot set {} to {}: {}", (group / "pids.max").string(),
                                  *limits.pod_pids, std::strerror(errno)));
  return true;
}

std::vector<std::string> cgroup_tree::make(std::string_view name,
                                           const resource_limits& limits) const {
  std::vector<std::string> refused;
  const auto pod = fs::path{name}.parent_path();
  for (const auto& each : folders_) {
    const auto group = each.path / name;
    // The last other container of the pod may remove the pod's group at the same time.
    bool made = false;
    for (int tries = 0; !made && tries < process_defaults::cgroup_making_tries; ++tries)
      made = (pod.empty() || make_pod_group(each, pod, limits, refused)) && make_folder(group);
    if (!made) {
      refused.push_back(fmt::format("cannot make {}: {}", group.string(), std::strerror(errno)));
      continue;
    }
    set_limits(each, group, limits, refused);
  }
  return refused;
}

void cgroup_tree::set_limits(const folder& parent, const fs::path& group,
                             const resource_limits& limits,
                             std::vector<std::string>& refused) const {
  for (const auto& setting : cgroup_settings(limits, version_2_)) {
    if (!parent.controller.empty() && parent.controller != setting.controller) continue;
    if (!put(group / setting.file, setting.value))
      refused.push_back(fmt::format("cannot set {} to {}: {}", (group / setting.file).string(),
                                    setting.value, std::strerror(errno)));
  }
}

std::vector<std::string> cgroup_tree::change(std::string_view name,
                                             const resource_limits& limits) const {
  std::vector<std::string> refused;
  for (const auto& each : folders_)
    set_limits(each, each.path / name, limits, refused);
  return refused;
}

void cgroup_tree::enter(std::string_view name) const {
  for (const auto& each : folders_)
    put(each.path / name / "cgroup.procs", "0");
}

bool cgroup_tree::ran_out_of_memory(std::string_view name) const {
  for (const auto& each : folders_) {
    const auto group = each.path / name;
    if (counter(group / (version_2_ ? "memory.events" : "memory.oom_control"), "oom_kill") > 0)
      return true;
  }
  return false;
}

void cgroup_tree::remove(std::string_view name) const {
  for (const auto& each : folders_) {
    const auto group = each.path / name;
    // Killed processes leave the group with a short delay.
    for (int tries = 0; ::rmdir(group.c_str()) != 0 && errno == EBUSY; ++tries) {
      if (tries == process_defaults::cgroup_removal_tries) break;
      kill_all(group);
      ::poll(nullptr, 0, process_defaults::cgroup_removal_pause_ms);
    }
    if (const auto pod = fs::path{name}.parent_path(); !pod.empty())
      ::rmdir((each.path / pod).c_str());  // fails while another container is in it
  }
}

}  // namespace troupe::actors
