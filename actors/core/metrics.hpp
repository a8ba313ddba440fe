// Counters of the control plane and of this machine's kubelet, under upstream's metric names. The
// server exposes them at /metrics. There is one set for the process; actors write it with relaxed
// atomics.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

namespace troupe::actors {

// A histogram of durations with fixed buckets, as Prometheus expects.
class counted_times {
 public:
  // Upper bounds of the buckets in seconds: upstream's for scheduling attempts, plus finer ones.
  static constexpr std::array<double, 12> bounds{0.00001, 0.0001, 0.0005, 0.001, 0.002, 0.004,
                                                 0.008,   0.016,  0.064,  0.256, 1.0,   4.0};

  void add(std::chrono::nanoseconds took) noexcept {
    const auto seconds = std::chrono::duration<double>{took}.count();
    std::size_t i = 0;
    while (i < bounds.size() && seconds > bounds[i])
      ++i;
    counts[i].fetch_add(1, std::memory_order_relaxed);
    sum_ns.fetch_add(static_cast<std::uint64_t>(took.count()), std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint64_t>, bounds.size() + 1> counts{};
  std::atomic<std::uint64_t> sum_ns{0};
};

struct scheduler_metrics {
  // scheduler_schedule_attempts_total by result
  std::atomic<std::uint64_t> scheduled{0}, unschedulable{0}, failed{0};
  // scheduler_scheduling_attempt_duration_seconds: the decision without the binding
  counted_times attempts;
  // scheduler_pending_pods by queue
  std::atomic<std::uint64_t> active{0}, backing_off{0}, waiting{0};
};

inline scheduler_metrics& metrics_of_scheduler() noexcept {
  static scheduler_metrics all;
  return all;
}

// Calls of the container runtime interface, by upstream's operation_type.
struct runtime_operation {
  std::string_view method, type;  // "RunPodSandbox", "run_podsandbox"
  counted_times times;            // kubelet_runtime_operations_duration_seconds
  std::atomic<std::uint64_t> failed{0};
};

// Returns null if the method is not counted. `method` has no service prefix: "RunPodSandbox".
runtime_operation* find_runtime_operation(std::string_view method) noexcept;
std::span<runtime_operation> runtime_operations() noexcept;

struct rule_metrics {
  counted_times scripts;  // kubeproxy_sync_proxy_rules_duration_seconds
  std::atomic<std::uint64_t> failed{0};
};

inline rule_metrics& metrics_of_rules() noexcept {
  static rule_metrics all;
  return all;
}

}  // namespace troupe::actors
