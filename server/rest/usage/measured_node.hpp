// What a kubelet of upstream serves of the use of its machine, from what the node has measured and
// the cluster's state: /stats/summary, /metrics/resource and /metrics/cadvisor. Pure.
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
  const std::vector<api::object_ptr>& pods;  // those bound to it
  const actors::node_usage& usage;
  api::moment now;
};

// A container that runs and was measured.
struct measured_container {
  const api::core::v1::ContainerStatus* status = nullptr;
  const api::core::v1::Container* spec = nullptr;  // null for an ephemeral one
  actors::usage_figure figure = {};
};

// A pod with some. `sum` is of them: the sandbox is not in it.
struct measured_pod {
  const api::core::v1::Pod* pod = nullptr;
  std::vector<measured_container> containers = {};
  actors::usage_figure sum = {};
};

// Views into what it is made of.
std::vector<measured_pod> measured_pods(const measured_node& of);

// When the figures were read.
std::int64_t measured_at_ms(const measured_node& of);
// When the machine was started, as far as that is known; else when the Node was made.
std::int64_t started_at_seconds(const measured_node& of);

// kubernetes: kubelet/pkg/apis/stats/v1alpha1. Without disks and process ids where only processors
// and memory are wanted.
std::string stats_summary(const measured_node& of, bool only_cpu_and_memory);

// In the format of Prometheus, each sample with its time.
//
// kubernetes: pkg/kubelet/metrics/collectors/resource_metrics.go.
std::string resource_metrics(const measured_node& of);
// cadvisor: metrics/prometheus.go, with the labels of pkg/kubelet/server: of the machine, of pods
// and of containers.
std::string cadvisor_metrics(const measured_node& of);

}  // namespace troupe::server
