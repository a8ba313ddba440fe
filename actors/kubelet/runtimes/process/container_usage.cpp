#include "actors/kubelet/runtimes/process/container_usage.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>

#include "actors/kubelet/os/process_table.hpp"
#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "actors/kubelet/runtimes/process/container_files.hpp"
#include "actors/kubelet/runtimes/process/defaults.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

fs::directory_iterator entries_of(const fs::path& directory) {
  std::error_code problem;
  return fs::directory_iterator{directory, problem};
}

class meter {
 public:
  explicit meter(const cgroup_tree& groups) : groups_{groups} {}

  // Returns nothing for a container that does not run.
  std::optional<container_counters> measure(const process_container_id& id,
                                            const container_dir& dir) {
    const auto running = dir.running();
    if (!running || dir.exit() || !running->process.alive()) return std::nullopt;
    container_counters found{.pod_uid = id.pod_uid, .container = id.name, .id = id.text()};
    const auto age =
        std::chrono::milliseconds{std::max<std::int64_t>(wall_ms() - running->since_ms, 0)};
    auto& counters = found.counters;
    counters.at = machine_now();
    found.started = counters.at - age;
    auto used = groups_.usage(dir.group());
    if (!used.cpu_ns || !used.memory_bytes) {
      const auto counted = table().usage_of(running->process.pid);
      if (!counted) return std::nullopt;
      if (!used.cpu_ns) used.cpu_ns = counted->ticks * tick_ns_;
      if (!used.memory_bytes) used.memory_bytes = counted->pages * page_bytes_;
    }
    counters.cpu_ns = *used.cpu_ns;
    counters.memory_bytes = *used.memory_bytes;
    counters.all_memory_bytes = used.all_memory_bytes.value_or(0);
    counters.rss_bytes = used.rss_bytes.value_or(0);
    return found;
  }

 private:
  // Read at most once, and only if needed.
  const process_table& table() {
    if (!table_) table_ = process_table::read(process_defaults::usage_processes);
    return *table_;
  }

  const cgroup_tree& groups_;
  const std::uint64_t tick_ns_ =
      1'000'000'000u / static_cast<std::uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 1L));
  const std::uint64_t page_bytes_ = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::optional<process_table> table_;
};

}  // namespace

std::vector<container_counters> measure_containers(const fs::path& root_dir,
                                                   const cgroup_tree& groups) {
  std::vector<container_counters> all;
  meter measuring{groups};
  for (const auto& pod : entries_of(root_dir / "pods"))
    for (const auto& container : entries_of(pod.path() / "containers")) {
      int newest = -1;
      for (const auto& attempt : entries_of(container.path()))
        newest = std::max(newest, std::atoi(attempt.path().filename().c_str()));
      if (newest < 0) continue;
      const process_container_id id{pod.path().filename(), container.path().filename(), newest};
      const container_dir dir{attempt_path(pod.path(), id.name, newest)};
      if (auto found = measuring.measure(id, dir)) all.push_back(std::move(*found));
    }
  return all;
}

}  // namespace troupe::actors
