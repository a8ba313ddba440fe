#include <array>
#include <numeric>
#include <string>

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

void add_kubelet(families& out) {
  const auto& from = actors::metrics_of_kubelet();
  add_gauge(out, "kubelet_running_pods", "Pods of this machine with a running container.",
            static_cast<double>(from.running_pods));
  family{out, "kubelet_running_containers", "Containers of this machine.", MetricType::Gauge}.gauge(
      static_cast<double>(from.running_containers), {{"container_state", "running"}});
  if (total(from.pod_starts) > 0)
    family{out, "kubelet_pod_start_duration_seconds",
           "Time from a pod's arrival at this machine until its status says Running.",
           MetricType::Histogram}
        .histogram(from.pod_starts);
  if (total(from.relists) > 0)
    family{out, "kubelet_pleg_relist_duration_seconds",
           "Time until the container runtime has listed its containers and sandboxes.",
           MetricType::Histogram}
        .histogram(from.relists);
  family evictions{out, "kubelet_evictions",
                   "Pods that were evicted because this machine ran short of a resource.",
                   MetricType::Counter};
  for (const auto& each : from.evictions)
    evictions.counter(static_cast<double>(each.pods),
                      {{"eviction_signal", std::string{each.signal}}});
}

std::string name_of_response(std::size_t code) {
  static constexpr std::array<const char*, 6> names{"NOERROR",  "FORMERR", "SERVFAIL",
                                                    "NXDOMAIN", "NOTIMP",  "REFUSED"};
  return code < names.size() ? names[code] : std::to_string(code);
}

void add_dns(families& out) {
  const auto& from = actors::metrics_of_dns();
  if (from.datagrams == 0 && from.stream_requests == 0) return;
  family{out, "coredns_dns_requests_total", "Requests to this machine's DNS.", MetricType::Counter}
      .counter(static_cast<double>(from.datagrams), {{"proto", "udp"}})
      .counter(static_cast<double>(from.stream_requests), {{"proto", "tcp"}});
  family responses{out, "coredns_dns_responses_total", "Answers of this machine's DNS.",
                   MetricType::Counter};
  for (std::size_t code = 0; code < from.responses.size(); ++code)
    if (from.responses[code] > 0)
      responses.counter(static_cast<double>(from.responses[code]),
                        {{"rcode", name_of_response(code)}});
}

}  // namespace

// Omits families without data: a machine may have no container runtime, no rules or no DNS.
void add_node_metrics(families& out) {
  add_kubelet(out);
  add_dns(out);
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
