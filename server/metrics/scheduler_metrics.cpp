#include "server/metrics/families.hpp"

namespace troupe::server {

using prometheus::MetricType;

void add_scheduler_metrics(families& out, const actors::scheduler_metrics& from) {
  static const char* const profile = "default-scheduler";
  family{out, "scheduler_schedule_attempts_total",
         "Attempts to find a node for a pod, by how they ended.", MetricType::Counter}
      .counter(static_cast<double>(from.scheduled), {{"profile", profile}, {"result", "scheduled"}})
      .counter(static_cast<double>(from.unschedulable),
               {{"profile", profile}, {"result", "unschedulable"}})
      .counter(static_cast<double>(from.failed), {{"profile", profile}, {"result", "error"}});
  family{out, "scheduler_pending_pods", "Pods that wait for a node, by queue.", MetricType::Gauge}
      .gauge(static_cast<double>(from.active), {{"queue", "active"}})
      .gauge(static_cast<double>(from.backing_off), {{"queue", "backoff"}})
      .gauge(static_cast<double>(from.waiting), {{"queue", "unschedulable"}});
  family{out, "scheduler_scheduling_algorithm_duration_seconds",
         "Time to find a node for a pod, without the binding.", MetricType::Histogram}
      .histogram(from.attempts);
}

}  // namespace troupe::server
