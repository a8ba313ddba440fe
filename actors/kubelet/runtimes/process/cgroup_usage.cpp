#include "actors/kubelet/runtimes/process/cgroup_usage.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "actors/kubelet/runtimes/process/cgroup.hpp"

namespace troupe::actors {

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

std::optional<std::uint64_t> counter_in(const std::string& text, std::string_view name) {
  std::istringstream in{text};
  std::string key;
  for (std::uint64_t value = 0; in >> key >> value;)
    if (key == name) return value;
  return std::nullopt;
}

std::optional<std::uint64_t> number_in(const std::string& text) {
  std::istringstream in{text};
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

std::optional<std::uint64_t> working_set(const std::string& usage, const std::string& stat,
                                         bool version_2) {
  const auto used = number_in(usage);
  if (!used) return std::nullopt;
  const auto idle = counter_in(stat, version_2 ? "inactive_file" : "total_inactive_file");
  return *used - std::min(*used, idle.value_or(0));
}

group_usage cgroup_tree::usage(std::string_view name) const {
  group_usage found;
  for (const auto& each : folders_) {
    const auto group = each.path / name;
    if (!found.cpu_ns && version_2_) {
      if (const auto us = counter_in(text_of(group / "cpu.stat"), "usage_usec"))
        found.cpu_ns = *us * 1'000;
    } else if (!found.cpu_ns) {
      found.cpu_ns = number_in(text_of(group / "cpuacct.usage"));
    }
    if (found.memory_bytes) continue;
    const auto used = text_of(group / (version_2_ ? "memory.current" : "memory.usage_in_bytes"));
    const auto stat = text_of(group / "memory.stat");
    found.memory_bytes = working_set(used, stat, version_2_);
    found.all_memory_bytes = number_in(used);
    found.rss_bytes = counter_in(stat, version_2_ ? "anon" : "total_rss");
  }
  return found;
}

std::int64_t cgroup_tree::processes(std::string_view name) const {
  for (const auto& each : folders_)
    if (const auto count = number_in(text_of(each.path / name / "pids.current")))
      return static_cast<std::int64_t>(*count);
  return 0;
}

}  // namespace troupe::actors
