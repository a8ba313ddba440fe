// The usage documents of upstream's kubelet, made from the node's measurements and the cluster's
// state: /stats/summary, /metrics/resource and /metrics/cadvisor. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/kubelet/runtime/usage.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/values/timestamp.hpp"

namespace troupe::server {

struct measured_node {
  const api::core::v1::Node& node;
  const std::vector<api::object_ptr>& pods;  // bound to the node
  const actors::node_usage& usage;
  api::moment now;
};

// A running container with its measured usage.
struct measured_container {
  const api::core::v1::ContainerStatus* status = nullptr;
  const api::core::v1::Container* spec = nullptr;  // null for an ephemeral one
  actors::resource_usage figure = {};
};

// A pod with such containers. `sum` is their sum, without the sandbox.
struct measured_pod {
  const api::core::v1::Pod* pod = nullptr;
  std::vector<measured_container> containers = {};
  actors::resource_usage sum = {};
  const actors::network_counters* network = nullptr;  // null: unknown, or that of the machine
};

// The name of a pod's network device in the pod, as container runtimes give it.
inline constexpr const char* pod_device = "eth0";

// Has views into the argument.
std::vector<measured_pod> measured_pods(const measured_node& of);

// The time of the measurement.
std::int64_t measured_at_ms(const measured_node& of);
// The start time of the machine if known; else the creation time of the Node.
std::int64_t started_at_seconds(const measured_node& of);

// kubernetes: kubelet/pkg/apis/stats/v1alpha1. With `only_cpu_and_memory`, without disks and
// process ids.
std::string stats_summary(const measured_node& of, bool only_cpu_and_memory);

// In the format of Prometheus, each sample with its timestamp.
//
// kubernetes: pkg/kubelet/metrics/collectors/resource_metrics.go.
std::string resource_metrics(const measured_node& of);
// cadvisor: metrics/prometheus.go, with the labels of pkg/kubelet/server: for the machine, pods and
// containers.
std::string cadvisor_metrics(const measured_node& of);

}  // namespace troupe::server
