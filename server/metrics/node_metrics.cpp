#include <numeric>

#include "server/metrics/families.hpp"

namespace troupe::server {

using prometheus::MetricType;

namespace {

std::uint64_t total(const actors::counted_times& times) {
  return std::accumulate(times.counts.begin(), times.counts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& each) { return sum + each.load(); });
}

labels of(const actors::runtime_operation& each) {
  return {{"operation_type", std::string{each.type}}};
}

void add_runtime_operations(families& out) {
  std::vector<const actors::runtime_operation*> called;
  for (const auto& each : actors::runtime_operations())
    if (total(each.times) > 0) called.push_back(&each);
  if (called.empty()) return;
  family operations{out, "kubelet_runtime_operations_total", "Calls of the container runtime.",
                    MetricType::Counter};
  for (const auto* each : called)
    operations.counter(static_cast<double>(total(each->times)), of(*each));
  family errors{out, "kubelet_runtime_operations_errors_total",
                "Calls of the container runtime that it refused or did not answer.",
                MetricType::Counter};
  for (const auto* each : called)
    errors.counter(static_cast<double>(each->failed), of(*each));
  family durations{out, "kubelet_runtime_operations_duration_seconds",
                   "Time until the container runtime has answered.", MetricType::Histogram};
  for (const auto* each : called)
    durations.histogram(each->times, of(*each));
}

}  // namespace

// Omits families without data: a machine may have no container runtime, or no rules.
void add_node_metrics(families& out) {
  add_runtime_operations(out);
  const auto& rules = actors::metrics_of_rules();
  if (total(rules.scripts) == 0) return;
  family{out, "kubeproxy_sync_proxy_rules_duration_seconds",
         "Time that a change of the machine's rules took.", MetricType::Histogram}
      .histogram(rules.scripts);
  add_counter(out, "kubeproxy_sync_proxy_rules_nftables_sync_failures_total",
              "Changes of the machine's rules that failed.", static_cast<double>(rules.failed));
}

}  // namespace troupe::server
