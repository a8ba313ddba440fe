#include "actors/usage/simulated_usage.hpp"

#include <algorithm>
#include <map>

#include "actors/controllers/kit/claims.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/pod_health.hpp"
#include "actors/simulation/settings.hpp"
#include "actors/usage/defaults.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {
namespace {

using api::core::v1::Container;
using api::core::v1::Node;
using api::core::v1::Pod;

// Levels of controllers above a pod (a Deployment is above a ReplicaSet); bounds cycles.
constexpr int most_controllers = 4;

std::optional<amount_over_time> load_in(const api::object& controller, std::string_view name) {
  const auto text = simulated::annotation(controller.meta(), name);
  return text ? amount_over_time::parse(*text) : std::nullopt;
}

// The top of the chain of controllers; the object itself if it has none.
api::object_ptr top_of(const persistence::snapshot& state, api::object_ptr object) {
  for (int i = 0; i < most_controllers; ++i) {
    auto above = stored_controller(state, *object);
    if (!above) break;
    object = std::move(above);
  }
  return object;
}

// Pods that share a load: those of one controller.
struct load_group {
  std::optional<amount_over_time> cpu, memory;
  std::int64_t since = 0;
  std::int64_t ready = 0;
};

struct used_pod {
  api::object_ptr object;
  std::optional<amount_over_time> cpu, memory;
  load_group* group = nullptr;  // null: no share of a load
};

// The share of a load for one of its pods.
api::quantity part_of(const api::quantity& all, std::int64_t parts) {
  return api::quantity::of_milli(all.milli_value() / std::max<std::int64_t>(parts, 1));
}

// Caps CPU time by the container's limit: nanoseconds of CPU in this many seconds.
std::uint64_t limited_cpu(const Container& container, std::uint64_t nanos, std::int64_t seconds) {
  const auto& limits = container.resources().limits();
  const auto found = limits.find("cpu");
  if (found == limits.end()) return nanos;
  const auto limit = api::quantity::parse(found->second.string());
  return limit ? std::min(nanos, nanos_of(*limit) * static_cast<std::uint64_t>(seconds)) : nanos;
}

void add_usage(const used_pod& used, std::int64_t now, node_usage& into) {
  const auto& pod = used.object->as<Pod>();
  const auto age = std::max<std::int64_t>(now - pod.status().start_time().seconds(), 0);
  api::quantity cpu, memory;
  std::uint64_t cpu_ns = 0;
  if (used.cpu) {
    cpu = used.cpu->at(age);
    cpu_ns = used.cpu->total_ns(age);
  }
  if (used.memory) memory = used.memory->at(age);
  if (used.group != nullptr && is_ready(pod)) {
    const auto& group = *used.group;
    const auto parts = group.ready * std::max(pod.spec().containers_size(), 1);
    if (group.cpu) {
      const auto since = now - group.since;
      cpu += part_of(group.cpu->at(since), parts);
      cpu_ns += (group.cpu->total_ns(since) - group.cpu->total_ns(since - age)) /
                static_cast<std::uint64_t>(parts);
    }
    if (group.memory) memory += part_of(group.memory->at(now - group.since), parts);
  }
  resource_usage figure{
      .cpu_nano = 0,
      .memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(memory.value(), 0)),
      .window = std::min<std::chrono::nanoseconds>(std::chrono::seconds{age},
                                                   usage_defaults::simulated_window)};
  figure.all_memory_bytes = figure.memory_bytes;
  if (!into.machine) into.machine.emplace().window = usage_defaults::simulated_window;
  for (const auto& container : pod.spec().containers()) {
    figure.cpu_nano = limited_cpu(container, nanos_of(cpu), 1);
    figure.cpu_ns = limited_cpu(container, cpu_ns, age);
    into.machine->cpu_nano += figure.cpu_nano;
    into.machine->cpu_ns += figure.cpu_ns;
    into.machine->memory_bytes += figure.memory_bytes;
    into.machine->all_memory_bytes += figure.memory_bytes;
    into.containers.push_back({pod.metadata().uid(), container.name(), figure});
  }
}

}  // namespace

bool is_simulated(const Node& node) {
  return node.status().node_info().container_runtime_version().rfind("simulated://", 0) == 0;
}

usage_by_node simulated_usage(const persistence::snapshot& state,
                              const std::set<std::string>& nodes, runtime::wall_time now,
                              const simulated::policy* policy) {
  std::map<std::string, load_group> groups;            // by uid of the object with the load
  std::map<std::string, load_group*, std::less<>> of;  // by uid of the pods' controller
  std::vector<used_pod> used;
  const auto group_of = [&](const api::object_ptr& pod) {
    const auto controller = controller_uid(*pod);
    const auto found = of.find(controller);
    if (!controller.empty() && found != of.end()) return found->second;
    load_group* group = nullptr;
    const auto top = top_of(state, pod);
    auto cpu = load_in(*top, "cpu-load");
    auto memory = load_in(*top, "memory-load");
    if (cpu || memory) {
      group = &groups[top->meta().uid()];
      group->cpu = std::move(cpu);
      group->memory = std::move(memory);
      group->since = top->meta().creation_timestamp().seconds();
    }
    if (!controller.empty()) of.emplace(controller, group);
    return group;
  };
  state.scan(api::kind_of<Pod>().prefix(), {}, [&](std::string_view, const api::object_ptr& pod) {
    const auto& body = pod->as<Pod>();
    if (body.status().phase() != "Running") return true;
    auto* group = group_of(pod);
    if (group != nullptr && is_ready(body)) ++group->ready;
    if (!nodes.contains(body.spec().node_name())) return true;
    const simulated::settings said{simulated::subject::pod, body.metadata(), policy};
    if (group == nullptr && !said.any()) return true;
    used_pod found{pod, said.amount("cpu"), said.amount("memory"), group};
    if (found.cpu || found.memory || group != nullptr) used.push_back(std::move(found));
    return true;
  });
  usage_by_node result;
  for (const auto& each : used)
    add_usage(each, seconds_of(now), result[each.object->as<Pod>().spec().node_name()]);
  return result;
}

}  // namespace troupe::actors
