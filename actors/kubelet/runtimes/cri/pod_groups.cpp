#include "actors/kubelet/runtimes/cri/pod_groups.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "actors/core/log.hpp"
#include "actors/kubelet/os/run_program.hpp"
#include "actors/kubelet/runtimes/cri/defaults.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/values/quantity.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

using api::core::v1::Container;
using api::core::v1::Pod;
using amounts = google::protobuf::Map<std::string, api::resource::Quantity>;

// Returns thousandths of a processor, or bytes.
std::optional<std::int64_t> amount(const amounts& of, const std::string& resource) {
  const auto found = of.find(resource);
  if (found == of.end()) return std::nullopt;
  const auto read = api::quantity::parse(found->second.string());
  if (!read) return std::nullopt;
  return resource == "cpu" ? read->milli_value() : read->value();
}

// The sum over all containers, or the largest init container plus its preceding sidecars if that is
// more; `whole` becomes false if a container has no value (kubernetes: resourcehelper).
template <class Of>
std::int64_t total(const Pod& pod, const std::string& resource, bool& whole, Of of) {
  const auto one = [&](const Container& container) {
    const auto found = amount(of(container), resource);
    whole &= found.has_value() && *found > 0;
    return found.value_or(0);
  };
  std::int64_t sidecars = 0, largest = 0, sum = 0;
  for (const auto& container : pod.spec().init_containers()) {
    const auto own = one(container);
    largest = std::max(largest, sidecars + own);
    if (container.restart_policy() == "Always") sidecars += own;
  }
  for (const auto& container : pod.spec().containers())
    sum += one(container);
  return std::max(largest, sum + sidecars) + amount(pod.spec().overhead(), resource).value_or(0);
}

std::int64_t shares_of(std::int64_t milli_cpu) {
  return std::clamp(milli_cpu * cri_defaults::shares_of_one / 1000, cri_defaults::smallest_shares,
                    cri_defaults::largest_shares);
}

bool write_value(const fs::path& file, std::int64_t value) {
  std::ofstream out{file};
  out << value << '\n';
  return static_cast<bool>(out.flush());
}

// Version 1: each controller has its own hierarchy.
std::string set_v1(const fs::path& top, const std::string& group, const pod_group_limits& limits) {
  std::string problems;
  const auto set = [&](const char* controller, const char* file, std::int64_t value) {
    const auto at = fs::path{top / controller}.string() + group;
    std::error_code problem;
    if (fs::exists(top / controller, problem)) fs::create_directories(at, problem);
    if (!write_value(fs::path{at} / file, value)) problems += fmt::format(" {}/{}", at, file);
  };
  set("cpu", "cpu.shares", limits.cpu_shares);
  if (limits.cpu_quota_us) {
    set("cpu", "cpu.cfs_period_us", cri_defaults::cpu_period_us);
    set("cpu", "cpu.cfs_quota_us", *limits.cpu_quota_us);
  }
  if (limits.memory_bytes) set("memory", "memory.limit_in_bytes", *limits.memory_bytes);
  if (limits.pids) set("pids", "pids.max", *limits.pids);
  return problems;
}

// Version 2: a group has the controllers that its parent enables. Not tried on a machine.
std::string set_v2(const fs::path& top, const std::string& group, const pod_group_limits& limits) {
  std::string problems;
  auto at = top;
  for (const auto& step : fs::path{group}.relative_path()) {
    std::ofstream{at / "cgroup.subtree_control"} << "+cpu +memory +pids\n";
    at /= step;
    std::error_code problem;
    fs::create_directory(at, problem);
  }
  const auto set = [&](const char* file, const std::string& value) {
    std::ofstream out{at / file};
    out << value << '\n';
    if (!out.flush()) problems += fmt::format(" {}/{}", at.string(), file);
  };
  set("cpu.weight", std::to_string(weight_of_shares(limits.cpu_shares)));
  if (limits.cpu_quota_us)
    set("cpu.max", fmt::format("{} {}", *limits.cpu_quota_us, cri_defaults::cpu_period_us));
  if (limits.memory_bytes) set("memory.max", std::to_string(*limits.memory_bytes));
  if (limits.pids) set("pids.max", std::to_string(*limits.pids));
  return problems;
}

// The hierarchy that counts processes.
fs::path pids_tree(const fs::path& top) {
  std::error_code problem;
  return fs::exists(top / "pids", problem) ? top / "pids" : top;
}

// Returns the error; empty: success.
std::string run_systemctl(std::vector<std::string> arguments) {
  for (const auto* path : {"/usr/bin/systemctl", "/bin/systemctl"}) {
    if (::access(path, X_OK) != 0) continue;
    arguments.insert(arguments.begin(), path);
    const auto done = run_program("systemctl", arguments, {}, cri_defaults::systemctl_limit);
    return done ? std::string{} : done.error();
  }
  return "systemctl is not installed";
}

std::string set_by_systemd(const std::string& group, const pod_group_limits& limits) {
  std::vector<std::string> arguments{"set-property", "--runtime",
                                     fs::path{group}.filename().string()};
  for (auto& each : slice_properties(limits))
    arguments.push_back(std::move(each));
  const auto problem = run_systemctl(std::move(arguments));
  return problem.empty() ? problem : fmt::format(" {}: {}", group, problem);
}

std::string set(const fs::path& top, const std::string& group, const pod_group_limits& limits,
                group_driver driver) {
  if (driver == group_driver::systemd) return set_by_systemd(group, limits);
  std::error_code problem;
  return fs::exists(top / "cgroup.controllers", problem) ? set_v2(top, group, limits)
                                                         : set_v1(top, group, limits);
}

}  // namespace

pod_group_limits group_limits_of(const Pod& pod) {
  const auto requests = [](const Container& each) -> const amounts& {
    return each.resources().requests();
  };
  const auto limits = [](const Container& each) -> const amounts& {
    return each.resources().limits();
  };
  bool ignored = true, cpu_whole = true, memory_whole = true;
  const auto asked = total(pod, "cpu", ignored, requests);
  const auto cpu = total(pod, "cpu", cpu_whole, limits);
  const auto memory = total(pod, "memory", memory_whole, limits);
  pod_group_limits out;
  out.cpu_shares =
      pod.status().qos_class() == "BestEffort" ? cri_defaults::smallest_shares : shares_of(asked);
  if (cpu_whole)
    out.cpu_quota_us =
        std::max(cpu * cri_defaults::cpu_period_us / 1000, cri_defaults::smallest_quota_us);
  if (memory_whole) out.memory_bytes = memory;
  return out;
}

// kubernetes: cm/cgroup_manager_linux.go, CPUSharesToCPUWeight.
std::int64_t weight_of_shares(std::int64_t shares) {
  return (shares - 2) * 9999 / 262142 + 1;
}

pod_group_limits larger_limits(const pod_group_limits& a, const pod_group_limits& b) {
  const auto larger = [](const auto& x, const auto& y) {
    return x && y ? std::max(x, y) : std::nullopt;
  };
  return {.cpu_shares = std::max(a.cpu_shares, b.cpu_shares),
          .cpu_quota_us = larger(a.cpu_quota_us, b.cpu_quota_us),
          .memory_bytes = larger(a.memory_bytes, b.memory_bytes)};
}

// kubernetes: systemd has whole per cents of a processor, rounded up.
std::vector<std::string> slice_properties(const pod_group_limits& limits) {
  std::vector<std::string> out{fmt::format("CPUWeight={}", weight_of_shares(limits.cpu_shares))};
  if (limits.cpu_quota_us)
    out.push_back(
        fmt::format("CPUQuota={}%", (*limits.cpu_quota_us * 100 + cri_defaults::cpu_period_us - 1) /
                                        cri_defaults::cpu_period_us));
  if (limits.memory_bytes) out.push_back(fmt::format("MemoryMax={}", *limits.memory_bytes));
  if (limits.pids) out.push_back(fmt::format("TasksMax={}", *limits.pids));
  return out;
}

std::string set_pod_group(const Pod& pod, const pod_group_limits& limits, const std::string& top,
                          group_driver driver) {
  return set(top, cgroup_parent(pod, driver), limits, driver);
}

std::string limit_all_pods(const pods_limits& limits, const std::string& top, group_driver driver) {
  pod_group_limits set_to;
  set_to.cpu_shares = shares_of(limits.milli_cpu);
  if (limits.memory_bytes > 0) set_to.memory_bytes = limits.memory_bytes;
  return set(top, driver == group_driver::systemd ? all_pods_slice : all_pods_group, set_to,
             driver);
}

std::string share_among_classes(std::int64_t burstable_milli_cpu, const std::string& top,
                                group_driver driver) {
  const auto share = [&](const char* tier, std::int64_t shares) {
    pod_group_limits set_to;
    set_to.cpu_shares = shares;
    return set(top, class_group(tier, driver), set_to, driver);
  };
  return share("burstable", shares_of(burstable_milli_cpu)) +
         share("besteffort", cri_defaults::smallest_shares);
}

std::int64_t processes_of(const Pod& pod, const std::string& top, group_driver driver) {
  std::int64_t count = 0;
  std::ifstream{pids_tree(top).string() + cgroup_parent(pod, driver) + "/pids.current"} >> count;
  return count;
}

void kill_container_group(const std::string& container_id, const std::string& top) {
  std::error_code problem;
  const auto base = pids_tree(top);
  for (const auto* tier :
       {"kubepods", "kubepods/burstable", "kubepods/besteffort", "kubepods.slice",
        "kubepods.slice/kubepods-burstable.slice", "kubepods.slice/kubepods-besteffort.slice"})
    for (const auto& pod : fs::directory_iterator{base / tier, problem})
      for (const auto& group : {container_id, container_scope("containerd", container_id),
                                container_scope("cri-o", container_id)}) {
        std::ifstream processes{pod.path() / group / "cgroup.procs"};
        for (pid_t process = 0; processes >> process;)
          if (process > 1) ::kill(process, SIGKILL);
      }
}

void remove_pod_groups(const std::string& pod_uid) {
  std::error_code problem;
  const auto remove = [&](const fs::path& top) {
    for (const auto* qos : {"", "burstable", "besteffort"}) {
      const auto group = top / "kubepods" / qos / ("pod" + pod_uid);
      for (const auto& inner : fs::directory_iterator{group, problem})
        if (inner.is_directory(problem)) ::rmdir(inner.path().c_str());
      ::rmdir(group.c_str());
    }
  };
  remove("/sys/fs/cgroup");
  for (const auto& hierarchy : fs::directory_iterator{"/sys/fs/cgroup", problem})
    if (hierarchy.is_directory(problem)) remove(hierarchy.path());
  // The properties that were set are files in a folder of the unit.
  auto name = pod_uid;
  std::replace(name.begin(), name.end(), '-', '_');
  for (const auto* tier : {"", "burstable-", "besteffort-"}) {
    const auto unit = fmt::format("kubepods-{}pod{}.slice", tier, name);
    const auto properties = fs::path{"/run/systemd/system.control"} / (unit + ".d");
    if (!fs::exists(properties, problem)) continue;
    if (const auto stays = run_systemctl({"stop", unit}); !stays.empty())
      log().warn("kubelet: {} is not removed: {}", unit, stays);
    fs::remove_all(properties, problem);
  }
}

}  // namespace troupe::actors
