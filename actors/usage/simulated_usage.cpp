#include "actors/usage/simulated_usage.hpp"

#include <algorithm>
#include <map>

#include "actors/controllers/kit/claims.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/pod_health.hpp"
#include "actors/usage/defaults.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/values/duration.hpp"

namespace troupe::actors {
namespace {

using api::core::v1::Container;
using api::core::v1::Node;
using api::core::v1::Pod;

constexpr const char* cpu_annotation = "simulation.troupe.dev/cpu";
constexpr const char* memory_annotation = "simulation.troupe.dev/memory";
constexpr const char* cpu_load_annotation = "simulation.troupe.dev/cpu-load";
constexpr const char* memory_load_annotation = "simulation.troupe.dev/memory-load";
// Controllers above a pod: a Deployment stands above a ReplicaSet; the bound is for circles.
constexpr int most_controllers = 4;

std::optional<amount_over_time> amount_in(const api::object& object, const char* name) {
  const auto& all = object.meta().annotations();
  const auto found = all.find(name);
  return found == all.end() ? std::nullopt : amount_over_time::parse(found->second);
}

// The object at the top of those that control this one; itself where none does.
api::object_ptr top_of(const persistence::snapshot& state, api::object_ptr object) {
  for (int i = 0; i < most_controllers; ++i) {
    api::object_ptr above;
    for (const auto& owner : object->meta().owner_references()) {
      if (!owner.controller()) continue;
      const auto kind = api::scheme::instance().find(owner.api_version(), owner.kind());
      if (kind) above = state.find(kind->key(object->meta().namespace_(), owner.name()));
      if (above && above->meta().uid() != owner.uid()) above = nullptr;
    }
    if (!above) return object;
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
  load_group* group = nullptr;  // null: it has no part of a load
};

// The part of a load of one of those that share it.
api::quantity part_of(const api::quantity& all, std::int64_t parts) {
  return api::quantity::of_milli(all.milli_value() / std::max<std::int64_t>(parts, 1));
}

std::uint64_t nanos_of(const api::quantity& cores) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(cores.milli_value(), 0)) * 1'000'000;
}

// A container gets no more processor time than its limit: of nanoseconds in so many seconds.
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
  if (const auto amount = amount_in(*used.object, cpu_annotation)) {
    cpu = amount->at(age);
    cpu_ns = amount->total_ns(age);
  }
  if (const auto amount = amount_in(*used.object, memory_annotation)) memory = amount->at(age);
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
  usage_figure figure{
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

std::optional<amount_over_time> amount_over_time::parse(std::string_view text) {
  amount_over_time made;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const auto sign = part.find('=');
    const auto amount =
        api::quantity::parse(sign == std::string_view::npos ? part : part.substr(sign + 1));
    const auto after = sign == std::string_view::npos
                           ? std::optional<std::int64_t>{0}
                           : api::parse_duration(std::string{part.substr(0, sign)});
    if (!amount || !after || *after < 0) return std::nullopt;
    if (made.steps_.size() == usage_defaults::simulated_steps) return std::nullopt;
    made.steps_.push_back({*after, *amount});
  }
  if (made.steps_.empty()) return std::nullopt;
  std::stable_sort(made.steps_.begin(), made.steps_.end(),
                   [](const auto& a, const auto& b) { return a.after_ns < b.after_ns; });
  return made;
}

api::quantity amount_over_time::at(std::int64_t seconds) const {
  api::quantity last;
  for (const auto& step : steps_)
    if (step.after_ns / std::nano::den <= seconds) last = step.amount;
  return last;
}

std::uint64_t amount_over_time::total_ns(std::int64_t seconds) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto from = steps_[i].after_ns / std::nano::den;
    const auto next = i + 1 < steps_.size() ? steps_[i + 1].after_ns / std::nano::den : seconds;
    const auto time = std::max<std::int64_t>(std::min(next, seconds) - from, 0);
    total += nanos_of(steps_[i].amount) * static_cast<std::uint64_t>(time);
  }
  return total;
}

bool is_simulated(const Node& node) {
  return node.status().node_info().container_runtime_version().rfind("simulated://", 0) == 0;
}

usage_by_node simulated_usage(const persistence::snapshot& state,
                              const std::set<std::string>& nodes, runtime::wall_time now) {
  std::map<std::string, load_group> groups;            // by uid of what has the load
  std::map<std::string, load_group*, std::less<>> of;  // by uid of the pods' controller
  std::vector<used_pod> used;
  const auto group_of = [&](const api::object_ptr& pod) {
    const auto controller = controller_uid(*pod);
    const auto found = of.find(controller);
    if (!controller.empty() && found != of.end()) return found->second;
    load_group* group = nullptr;
    const auto top = top_of(state, pod);
    auto cpu = amount_in(*top, cpu_load_annotation);
    auto memory = amount_in(*top, memory_load_annotation);
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
    const auto& own = body.metadata().annotations();
    const bool uses =
        group != nullptr || own.contains(cpu_annotation) || own.contains(memory_annotation);
    if (uses && nodes.contains(body.spec().node_name())) used.push_back({pod, group});
    return true;
  });
  usage_by_node result;
  for (const auto& each : used)
    add_usage(each, seconds_of(now), result[each.object->as<Pod>().spec().node_name()]);
  return result;
}

}  // namespace troupe::actors
