#include "actors/kubelet/usage/usage_rates.hpp"

#include <string_view>
#include <unordered_map>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

std::optional<resource_usage> usage_between(const usage_counters& before,
                                            const usage_counters& now) {
  const auto window = now.at - before.at;
  if (window < kubelet_defaults::usage_shortest_window || now.cpu_ns < before.cpu_ns)
    return std::nullopt;
  const auto used = static_cast<double>(now.cpu_ns - before.cpu_ns);
  const auto rate = used / static_cast<double>(window.count()) * 1e9;
  return resource_usage{.cpu_nano = static_cast<std::uint64_t>(rate),
                        .memory_bytes = now.memory_bytes,
                        .window = window,
                        .cpu_ns = now.cpu_ns,
                        .all_memory_bytes = now.all_memory_bytes,
                        .rss_bytes = now.rss_bytes};
}

node_usage usage_between(const usage_reading& before, const usage_reading& now) {
  node_usage result;
  result.supplies = now.supplies;
  result.networks = now.networks;
  result.systemd_groups = now.systemd_groups;
  if (now.machine) result.up = now.machine->at;
  if (before.machine && now.machine) result.machine = usage_between(*before.machine, *now.machine);
  std::unordered_map<std::string_view, const usage_counters*> earlier;
  for (const auto& each : before.containers)
    earlier.emplace(each.id, &each.counters);
  for (const auto& each : now.containers) {
    const auto found = earlier.find(each.id);
    std::optional<resource_usage> figure;
    if (found != earlier.end())
      figure = usage_between(*found->second, each.counters);
    else if (each.started)
      figure = usage_between({.at = *each.started}, each.counters);
    if (figure) result.containers.push_back({each.pod_uid, each.container, *figure});
  }
  return result;
}

}  // namespace troupe::actors
