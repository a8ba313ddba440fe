#include "tools/node/process_limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "persistence/defaults.hpp"
#include "persistence/engine/memory_limit.hpp"
#include "tools/defaults.hpp"

namespace troupe::tools {

namespace {

rlimit limit_of(int resource) {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  ::getrlimit(resource, &limit);
  return limit;
}

// For thousands of connections and watches: uses as many descriptors as the system allows.
rlim_t raised_descriptor_limit() {
  auto limit = limit_of(RLIMIT_NOFILE);
  const auto before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

// How many of `wanted` threads can exist at the same time.
std::size_t available_threads(std::size_t wanted) {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::vector<std::thread> threads;
  threads.reserve(wanted);
  try {
    while (threads.size() < wanted)
      threads.emplace_back([&] {
        std::unique_lock lock{mutex};
        changed.wait(lock, [&] { return over; });
      });
  } catch (const std::system_error&) {  // the limit is reached
  }
  {
    const std::lock_guard lock{mutex};
    over = true;
  }
  changed.notify_all();
  for (auto& each : threads)
    each.join();
  return threads.size();
}

// The limit of this process's own control group, version 1 or 2; empty if there is none.
std::string pids_limit() {
  std::ifstream groups{"/proc/self/cgroup"};
  for (std::string line; std::getline(groups, line);) {
    const auto path = line.substr(line.rfind(':') + 1);
    const bool first = line.find(":pids:") != line.npos;
    if (!first && !line.starts_with("0::")) continue;
    for (const char* root : {"/sys/fs/cgroup/pids", "/sys/fs/cgroup"}) {
      std::ifstream file{root + path + "/pids.max"};
      std::string limit;
      if (file >> limit && limit != "max")
        return fmt::format("pids.max of control group {} is {}", path, limit);
    }
  }
  return {};
}

std::string limits_in_force() {
  std::string text = pids_limit();
  const auto add = [&](int resource, const char* name, rlim_t unit, const char* unit_name) {
    const auto now = limit_of(resource).rlim_cur;
    if (now == RLIM_INFINITY) return;
    text += fmt::format("{}{} is {}{}", text.empty() ? "" : ", ", name, now / unit, unit_name);
  };
  add(RLIMIT_NPROC, "RLIMIT_NPROC (ulimit -u)", 1, "");
  add(RLIMIT_AS, "RLIMIT_AS (ulimit -v)", 1 << 20, " MiB");
  return text.empty() ? "see kernel.threads-max and pids.max of its control groups" : text;
}

}  // namespace

tl::expected<void, std::string> check_process_limits(const process_needs& needs) {
  if (const auto most = persistence::memory_limit_bytes(); most && *most < needs.memory_bytes)
    return tl::make_unexpected(
        fmt::format("a node needs {} MiB of memory to start and may use {} MiB: give its control "
                    "group more",
                    needs.memory_bytes >> 20, *most >> 20));
  const auto descriptors = raised_descriptor_limit();
  if (descriptors < needs.descriptors)
    return tl::make_unexpected(fmt::format(
        "a node needs {} file descriptors to start and may have {}: raise the hard limit "
        "(ulimit -Hn, LimitNOFILE=)",
        needs.descriptors, descriptors));
  if (const auto there = available_threads(needs.threads); there < needs.threads)
    return tl::make_unexpected(
        fmt::format("a node needs {} threads to start and can have {}: raise their limit ({})",
                    needs.threads, there, limits_in_force()));
  return {};
}

process_needs needs_of_node(std::size_t worker_threads) {
  const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  const auto workers = worker_threads != 0 ? worker_threads : std::max<std::size_t>(cores, 2);
  const auto loaders = std::min<std::size_t>(cores, 8) - 1;  // while the store is loaded
  return {.threads = defaults::fixed_threads + workers + loaders,
          .descriptors = defaults::min_descriptors,
          .memory_bytes = persistence::defaults::program_bytes};
}

}  // namespace troupe::tools
