// A control group for each container: it limits the container's processes and contains all their
// forks. Its parent is the pod's group, which limits the pod's number of processes and threads.
//
// Supports version 2 (Debian's default) and version 1 of the kernel's interface. Groups are called
// POD/CONTAINER, below `troupe/` at the top of the hierarchy, as a kubelet's are below `kubepods/`.
// Used by the container's shim; the kernel keeps the state. Best effort: if this process may not
// create groups, containers run without, and `find` returns the reason.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors {

// Limits of a container's resources. Absent: no limit.
struct resource_limits {
  std::optional<std::int64_t> memory_bytes = {};
  std::optional<std::int64_t> milli_cpu = {};
  std::int64_t requested_milli_cpu = 0;
  std::optional<std::int64_t> pod_pids = {};  // for all containers of the pod together

  bool operator==(const resource_limits&) const = default;
};

// Usage of a group's processes: processor time since the group was created; current memory as
// working set (without page cache not read lately), with page cache, and anonymous. Absent: not
// counted.
struct group_usage {
  std::optional<std::uint64_t> cpu_ns = {};
  std::optional<std::uint64_t> memory_bytes = {}, all_memory_bytes = {}, rss_bytes = {};
};

// One value to be written to a file of the group.
struct cgroup_setting {
  std::string controller;  // "memory", "cpu"
  std::string file;
  std::string value;

  bool operator==(const cgroup_setting&) const = default;
};

// kubernetes: pkg/kubelet/cm/helpers_linux.go: 1024 shares per processor, at least 2; the quota
// is relative to a period of 100 ms, at least 1 ms; KEP-2254 maps shares to the weights of
// version 2.
std::vector<cgroup_setting> cgroup_settings(const resource_limits& limits, bool version_2);

class cgroup_tree {
 public:
  // Detects the machine's cgroup version and creates the folder of all groups.
  static cgroup_tree find(const std::filesystem::path& mount = "/sys/fs/cgroup");

  // "cgroup v2 (cpu, memory)", or "none: …" with the reason.
  const std::string& about() const noexcept { return about_; }
  bool available() const noexcept { return !folders_.empty(); }
  // Whether limits of memory and processors are enforced.
  bool keeps_limits() const noexcept { return keeps_limits_; }

  // Creates the group and its parent and sets their limits; returns the system's errors as log
  // lines. With an empty name: limits the folder of all groups.
  std::vector<std::string> make(std::string_view name, const resource_limits& limits) const;
  // Changes the limits of an existing group; returns the system's errors.
  std::vector<std::string> change(std::string_view name, const resource_limits& limits) const;
  // Moves the calling process and its later children into the group.
  void enter(std::string_view name) const;
  // Whether the kernel killed one of its processes because memory ran out.
  bool ran_out_of_memory(std::string_view name) const;
  // Implemented in cgroup_usage.cpp.
  group_usage usage(std::string_view name) const;
  std::int64_t processes(std::string_view name) const;  // and threads; 0: not counted
  // Kills the remaining processes, then removes the group, and its parent with the last group.
  void remove(std::string_view name) const;

 private:
  struct folder {
    std::string controller;  // empty: all controllers (version 2)
    std::filesystem::path path;
  };
  void set_limits(const folder& parent, const std::filesystem::path& group,
                  const resource_limits& limits, std::vector<std::string>& refused) const;
  bool make_pod_group(const folder& parent, const std::filesystem::path& pod,
                      const resource_limits& limits, std::vector<std::string>& refused) const;

  bool version_2_ = false;
  bool keeps_limits_ = false;
  std::vector<folder> folders_;
  std::string about_;
};

}  // namespace troupe::actors
