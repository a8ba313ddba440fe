#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "actors/kubelet/runtimes/cri/sandbox_config.hpp"
#include "api/values/quantity.hpp"
#include "server/rest/usage/measured_node.hpp"

namespace troupe::server {
namespace {

using actors::resource_usage;
using prometheus::MetricType;
using labels = std::vector<prometheus::ClientMetric::Label>;

constexpr double billion = 1e9;

class exposition {
 public:
  explicit exposition(std::int64_t at_ms) : at_ms_{at_ms} {}

  // Begins the family of the following samples.
  void family(std::string name, std::string help, MetricType type) {
    all_.push_back({std::move(name), std::move(help), type, {}});
  }
  void add(double value, labels with, bool timed = true) {
    auto& family = all_.back();
    auto& sample = family.metric.emplace_back();
    sample.label = std::move(with);
    if (timed) sample.timestamp_ms = at_ms_;
    if (family.type == MetricType::Counter)
      sample.counter.value = value;
    else
      sample.gauge.value = value;
  }
  // Omits families without samples.
  std::string text() {
    std::erase_if(all_, [](const auto& family) { return family.metric.empty(); });
    return prometheus::TextSerializer{}.Serialize(all_);
  }

 private:
  const std::int64_t at_ms_;
  std::vector<prometheus::MetricFamily> all_;
};

double seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / billion;
}

double started_at(const measured_container& container) {
  return static_cast<double>(container.status->state().running().started_at().seconds());
}

labels pod_labels(const measured_pod& pod) {
  const auto& meta = pod.pod->metadata();
  return {{"namespace", meta.namespace_()}, {"pod", meta.name()}};
}

labels container_labels(const measured_pod& pod, const measured_container& container) {
  const auto& meta = pod.pod->metadata();
  return {{"container", container.status->name()},
          {"namespace", meta.namespace_()},
          {"pod", meta.name()}};
}

// -- cadvisor -------------------------------------------------------------------------------------

// A group of processes: the machine, a pod or a container.
struct group {
  labels with;
  resource_usage figure;
  std::int64_t started = 0;                           // seconds
  const api::core::v1::Container* spec = nullptr;     // of a container
  const actors::network_counters* network = nullptr;  // of a pod
};

labels group_labels(const std::string& container, const std::string& id, const std::string& image,
                    const std::string& name, const api::core::v1::Pod* pod) {
  return {{"container", container},
          {"id", id},
          {"image", image},
          {"name", name},
          {"namespace", pod == nullptr ? std::string{} : pod->metadata().namespace_()},
          {"pod", pod == nullptr ? std::string{} : pod->metadata().name()}};
}

std::vector<group> groups_of(const measured_node& of) {
  std::vector<group> all;
  if (of.usage.machine)
    all.push_back(
        {group_labels({}, "/", {}, {}, nullptr), *of.usage.machine, started_at_seconds(of)});
  for (const auto& each : measured_pods(of)) {
    const auto& pod = *each.pod;
    const bool systemd = of.usage.systemd_groups;
    const auto id = actors::cgroup_parent(
        pod, systemd ? actors::group_driver::systemd : actors::group_driver::cgroupfs);
    all.push_back({.with = group_labels({}, id, {}, {}, &pod),
                   .figure = each.sum,
                   .started = pod.status().start_time().seconds(),
                   .network = each.network});
    for (const auto& container : each.containers) {
      const auto& status = *container.status;
      const auto& full = status.container_id();  // "containerd://ID"
      const auto scheme = full.find("://");
      const auto name = scheme == full.npos ? full : full.substr(scheme + 3);
      const auto own = systemd ? actors::container_scope(full.substr(0, scheme), name) : name;
      all.push_back({group_labels(status.name(), id + "/" + own, status.image(), name, &pod),
                     container.figure, status.state().running().started_at().seconds(),
                     container.spec});
    }
  }
  return all;
}

std::optional<api::quantity> limit_of(const group& of, const char* resource) {
  if (of.spec == nullptr) return std::nullopt;
  const auto& limits = of.spec->resources().limits();
  const auto found = limits.find(resource);
  return found == limits.end() ? std::nullopt : api::quantity::parse(found->second.string());
}

void add_networks(exposition& out, const std::vector<group>& groups) {
  using actors::network_counters;
  const auto add = [&](const char* name, const char* help, std::uint64_t network_counters::*field) {
    out.family(name, help, MetricType::Counter);
    for (const auto& each : groups) {
      if (each.network == nullptr) continue;
      auto with = each.with;
      with.insert(with.begin() + 3, {"interface", pod_device});
      out.add(static_cast<double>(each.network->*field), std::move(with));
    }
  };
  add("container_network_receive_bytes_total", "Bytes that were received.",
      &network_counters::rx_bytes);
  add("container_network_receive_errors_total", "Packets with errors that were received.",
      &network_counters::rx_errors);
  add("container_network_receive_packets_dropped_total", "Received packets that were dropped.",
      &network_counters::rx_dropped);
  add("container_network_receive_packets_total", "Packets that were received.",
      &network_counters::rx_packets);
  add("container_network_transmit_bytes_total", "Bytes that were sent.",
      &network_counters::tx_bytes);
  add("container_network_transmit_errors_total", "Packets that could not be sent.",
      &network_counters::tx_errors);
  add("container_network_transmit_packets_dropped_total", "Packets that were dropped, not sent.",
      &network_counters::tx_dropped);
  add("container_network_transmit_packets_total", "Packets that were sent.",
      &network_counters::tx_packets);
}

void add_machine(exposition& out, const measured_node& of) {
  const auto& info = of.node.status().node_info();
  const labels with{{"boot_id", info.boot_id()},
                    {"machine_id", info.machine_id()},
                    {"system_uuid", info.system_uuid()}};
  const auto& capacity = of.node.status().capacity();
  const auto add = [&](const char* resource, const char* name, const char* help) {
    const auto found = capacity.find(resource);
    if (found == capacity.end()) return;
    const auto amount = api::quantity::parse(found->second.string());
    if (!amount) return;
    out.family(name, help, MetricType::Gauge);
    out.add(static_cast<double>(amount->value()), with, false);
  };
  add("cpu", "machine_cpu_cores", "Processors of the machine, counted with hyperthreads.");
  add("memory", "machine_memory_bytes", "Memory of the machine.");
}

void add_limits(exposition& out, const std::vector<group>& groups) {
  constexpr double period_us = 100'000;
  out.family("container_spec_cpu_period", "Period of the limit of processor time, in us.",
             MetricType::Gauge);
  for (const auto& each : groups)
    if (limit_of(each, "cpu")) out.add(period_us, each.with, false);
  out.family("container_spec_cpu_quota", "Processor time in each period, in us.",
             MetricType::Gauge);
  for (const auto& each : groups)
    if (const auto limit = limit_of(each, "cpu"))
      out.add(static_cast<double>(limit->milli_value()) * period_us / 1'000, each.with, false);
  out.family("container_spec_memory_limit_bytes", "Limit of memory; 0 for none.",
             MetricType::Gauge);
  for (const auto& each : groups) {
    if (each.spec == nullptr) continue;
    const auto limit = limit_of(each, "memory");
    out.add(limit ? static_cast<double>(limit->value()) : 0, each.with, false);
  }
}

}  // namespace

std::string resource_metrics(const measured_node& of) {
  exposition out{measured_at_ms(of)};
  const auto pods = measured_pods(of);
  const auto each_container = [&](const auto& value_of) {
    for (const auto& pod : pods)
      for (const auto& each : pod.containers)
        out.add(value_of(each), container_labels(pod, each));
  };
  out.family("container_cpu_usage_seconds_total", "Processor time that the container has used.",
             MetricType::Counter);
  each_container([](const auto& each) { return seconds(each.figure.cpu_ns); });
  out.family("container_memory_working_set_bytes", "Working set of the container.",
             MetricType::Gauge);
  each_container([](const auto& each) { return static_cast<double>(each.figure.memory_bytes); });
  out.family("container_start_time_seconds", "Start of the container, since 1970.",
             MetricType::Gauge);
  each_container(started_at);
  if (const auto& machine = of.usage.machine) {
    out.family("node_cpu_usage_seconds_total", "Processor time that the node has used.",
               MetricType::Counter);
    out.add(seconds(machine->cpu_ns), {});
    out.family("node_memory_working_set_bytes", "Working set of the node.", MetricType::Gauge);
    out.add(static_cast<double>(machine->memory_bytes), {});
  }
  out.family("pod_cpu_usage_seconds_total", "Processor time that the pod has used.",
             MetricType::Counter);
  for (const auto& pod : pods)
    out.add(seconds(pod.sum.cpu_ns), pod_labels(pod));
  out.family("pod_memory_working_set_bytes", "Working set of the pod.", MetricType::Gauge);
  for (const auto& pod : pods)
    out.add(static_cast<double>(pod.sum.memory_bytes), pod_labels(pod));
  for (const auto* name : {"resource_scrape_error", "scrape_error"}) {
    out.family(name, "1 if the usage could not be measured, else 0.", MetricType::Gauge);
    out.add(0, {}, false);
  }
  return out.text();
}

std::string cadvisor_metrics(const measured_node& of) {
  exposition out{measured_at_ms(of)};
  const auto groups = groups_of(of);
  const auto add = [&](const char* name, const char* help, auto field) {
    out.family(name, help, MetricType::Gauge);
    for (const auto& each : groups)
      out.add(static_cast<double>(each.figure.*field), each.with);
  };
  out.family("container_cpu_usage_seconds_total", "Processor time that was used.",
             MetricType::Counter);
  for (const auto& each : groups) {
    auto with = each.with;
    with.insert(with.begin() + 1, {"cpu", "total"});
    out.add(seconds(each.figure.cpu_ns), std::move(with));
  }
  add("container_memory_rss", "Anonymous memory, in bytes.", &resource_usage::rss_bytes);
  add("container_memory_usage_bytes", "Memory, with file pages.",
      &resource_usage::all_memory_bytes);
  add("container_memory_working_set_bytes", "Working set.", &resource_usage::memory_bytes);
  add_networks(out, groups);
  out.family("container_start_time_seconds", "Start, since 1970.", MetricType::Gauge);
  for (const auto& each : groups)
    out.add(static_cast<double>(each.started), each.with);
  add_limits(out, groups);
  out.family("container_scrape_error", "1 if the usage could not be measured, else 0.",
             MetricType::Gauge);
  out.add(0, {}, false);
  add_machine(out, of);
  return out.text();
}

}  // namespace troupe::server
