#include "server/rest/usage/measured_node.hpp"

#include <chrono>
#include <map>
#include <string_view>
#include <utility>

namespace troupe::server {
namespace {

using actors::resource_usage;
using api::core::v1::Container;
using api::core::v1::Pod;

using figures_by_name = std::map<std::string_view, const resource_usage*>;

void add(resource_usage& sum, const resource_usage& figure) {
  sum.cpu_nano += figure.cpu_nano;
  sum.cpu_ns += figure.cpu_ns;
  sum.memory_bytes += figure.memory_bytes;
  sum.all_memory_bytes += figure.all_memory_bytes;
  sum.rss_bytes += figure.rss_bytes;
}

const Container* spec_of(const Pod& pod, const std::string& name) {
  for (const auto* all : {&pod.spec().init_containers(), &pod.spec().containers()})
    for (const auto& each : *all)
      if (each.name() == name) return &each;
  return nullptr;
}

measured_pod measured(const Pod& pod, const figures_by_name& figures) {
  measured_pod found{.pod = &pod};
  const auto& status = pod.status();
  for (const auto* all : {&status.init_container_statuses(), &status.container_statuses(),
                          &status.ephemeral_container_statuses()})
    for (const auto& each : *all) {
      const auto figure = figures.find(each.name());
      if (figure == figures.end() || !each.state().has_running()) continue;
      found.containers.push_back({&each, spec_of(pod, each.name()), *figure->second});
      add(found.sum, *figure->second);
    }
  return found;
}

}  // namespace

std::vector<measured_pod> measured_pods(const measured_node& of) {
  std::map<std::string_view, figures_by_name> by_pod;
  for (const auto& each : of.usage.containers)
    by_pod[each.pod_uid][each.container] = &each.figure;
  std::map<std::string_view, const actors::network_counters*> networks;  // by address
  for (const auto& each : of.usage.networks)
    networks[each.address] = &each;
  std::vector<measured_pod> all;
  for (const auto& each : of.pods) {
    const auto found = by_pod.find(each->meta().uid());
    if (found == by_pod.end()) continue;
    auto pod = measured(each->as<Pod>(), found->second);
    const auto network = networks.find(pod.pod->status().pod_ip());
    if (network != networks.end() && !pod.pod->spec().host_network()) pod.network = network->second;
    if (!pod.containers.empty()) all.push_back(std::move(pod));
  }
  return all;
}

std::int64_t measured_at_ms(const measured_node& of) {
  return of.now.seconds * 1'000 + of.now.nanos / 1'000'000 - of.usage.age.count();
}

std::int64_t started_at_seconds(const measured_node& of) {
  const auto up = std::chrono::duration_cast<std::chrono::milliseconds>(of.usage.up).count();
  if (up == 0) return of.node.metadata().creation_timestamp().seconds();
  return (measured_at_ms(of) - up) / 1'000;
}

}  // namespace troupe::server
