// A control group for each container: limits its processes and names all of them, however they
// fork. Its parent is the group of its pod, which limits the pod's number of processes and threads.
//
// Version 2 (Debian's default) and version 1 of the kernel's interface. Groups are called
// POD/CONTAINER, below `troupe/` at the top of the hierarchy, as a kubelet's are below `kubepods/`.
// Used by the container's shim; the kernel keeps the state. All of it is best effort: where this
// process may not make groups, containers run without, and `find` returns the reason.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors {

// What a container's resources ask for. Absent: no limit.
struct resource_limits {
  std::optional<std::int64_t> memory_bytes = {};
  std::optional<std::int64_t> milli_cpu = {};
  std::int64_t requested_milli_cpu = 0;
  std::optional<std::int64_t> pod_pids = {};  // of all containers of the pod together

  bool operator==(const resource_limits&) const = default;
};

// What a group's processes used of the processors since it was made, and use of memory now: the
// working set, without pages of files that were not read lately; with them; and that of no file.
// Absent: not counted there.
struct group_usage {
  std::optional<std::uint64_t> cpu_ns = {};
  std::optional<std::uint64_t> memory_bytes = {}, all_memory_bytes = {}, rss_bytes = {};
};

// One value that a group's file gets.
struct cgroup_setting {
  std::string controller;  // "memory", "cpu"
  std::string file;
  std::string value;

  bool operator==(const cgroup_setting&) const = default;
};

// Kubernetes, pkg/kubelet/cm/helpers_linux.go: shares are 1024 for a processor and 2 at least, a
// quota is a part of 100 ms and 1 ms at least; weights of version 2 as KEP-2254 maps shares to
// them.
std::vector<cgroup_setting> cgroup_settings(const resource_limits& limits, bool version_2);

class cgroup_tree {
 public:
  // Looks at the machine, and makes the folder that holds the groups.
  static cgroup_tree find(const std::filesystem::path& mount = "/sys/fs/cgroup");

  // "cgroup v2 (cpu, memory)", or "none: …" with the reason.
  const std::string& about() const noexcept { return about_; }
  bool available() const noexcept { return !folders_.empty(); }
  // Of memory and processors.
  bool keeps_limits() const noexcept { return keeps_limits_; }

  // Makes the group and its parent and sets their limits; returns what the system refused, as lines
  // for the log. Without a name: limits the folder that holds all groups.
  std::vector<std::string> make(std::string_view name, const resource_limits& limits) const;
  // Sets the limits of a group that there is; returns what was refused.
  std::vector<std::string> change(std::string_view name, const resource_limits& limits) const;
  // Moves the calling process there; its children follow.
  void enter(std::string_view name) const;
  // Whether the kernel has killed one of its processes for want of memory.
  bool ran_out_of_memory(std::string_view name) const;
  // Implemented in cgroup_usage.cpp.
  group_usage usage(std::string_view name) const;
  // Kills the remaining processes, then removes the group, and its parent with the last group.
  void remove(std::string_view name) const;

 private:
  struct folder {
    std::string controller;  // empty: all of them (version 2)
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
