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

struct kubelet_metrics {
  struct eviction {
    std::string_view signal;  // of upstream: "memory.available"
    std::atomic<std::uint64_t> pods{0};
  };
  // kubelet_running_pods: with a running container; kubelet_running_containers
  std::atomic<std::int64_t> running_pods{0}, running_containers{0};
  // kubelet_pod_start_duration_seconds: until the status says Running
  counted_times pod_starts;
  // kubelet_pleg_relist_duration_seconds
  counted_times relists;
  // kubelet_evictions
  std::array<eviction, 4> evictions{{{"memory.available", {}},
                                     {"nodefs.available", {}},
                                     {"nodefs.inodesFree", {}},
                                     {"pid.available", {}}}};

  void count_eviction(std::string_view signal) noexcept {
    for (auto& each : evictions)
      if (each.signal == signal) each.pods.fetch_add(1, std::memory_order_relaxed);
  }
};

inline kubelet_metrics& metrics_of_kubelet() noexcept {
  static kubelet_metrics all;
  return all;
}

// The part of one owner in a total, until the owner ends.
class gauge_share {
 public:
  explicit gauge_share(std::atomic<std::int64_t>& total) noexcept : total_{total} {}
  ~gauge_share() { set(0); }
  gauge_share(const gauge_share&) = delete;
  gauge_share& operator=(const gauge_share&) = delete;

  void set(std::int64_t now) noexcept {
    total_.fetch_add(now - own_, std::memory_order_relaxed);
    own_ = now;
  }

 private:
  std::atomic<std::int64_t>& total_;
  std::int64_t own_ = 0;
};

struct dns_metrics {
  // coredns_dns_requests_total by protocol
  std::atomic<std::uint64_t> datagrams{0}, stream_requests{0};
  // coredns_dns_responses_total by code
  std::array<std::atomic<std::uint64_t>, 16> responses{};
};

inline dns_metrics& metrics_of_dns() noexcept {
  static dns_metrics all;
  return all;
}

}  // namespace troupe::actors
