// In-place resize of a pod on its node: desired, allocated and actual resources, and how the pod's
// status shows them. Pure.
//
// The status in the store is the checkpoint: a resource is applied only after the status shows it
// as allocated, and a restarted kubelet reads it there (docs/decisions/0077-in-place-resize.md).
//
// kubernetes: pkg/kubelet/allocation, kubelet.go (1.33).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/pods/pod_containers.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// By container name; only containers that can be resized: main ones and sidecars.
using container_resources = std::map<std::string, api::core::v1::ResourceRequirements>;

// Why the resources that a pod requests are not allocated.
struct pending_resize {
  std::string reason;  // "Deferred": not now; "Infeasible": not on this node
  std::string message;
  std::int64_t generation = 0;  // of the pod that was checked

  bool operator==(const pending_resize&) const = default;
};

// The resources that the kubelet has allocated to a pod.
struct pod_allocation {
  container_resources resources;
  std::int64_t generation = 0;                 // of the pod that requested it
  std::optional<pending_resize> pending = {};  // set if the pod requests other resources now
};

// The resources in the spec.
container_resources desired_resources(const api::core::v1::Pod& pod);
// The allocation recorded in the status; from the spec for a container without one. The status has
// no allocated limits: they are the spec's if the requests are equal, else the actual ones.
pod_allocation recorded_allocation(const api::core::v1::Pod& pod);
// The actual resources recorded in the status.
container_resources recorded_resources(const api::core::v1::Pod& pod);

// Compares amounts, not their spelling.
bool same_amounts(const api::core::v1::ResourceRequirements& a,
                  const api::core::v1::ResourceRequirements& b);
bool same_amounts(const container_resources& a, const container_resources& b);

void set_resources(api::core::v1::Pod& pod, const container_resources& resources);
// Returns the pod with these resources; `pod` itself if it has them already.
api::object_ptr with_resources(const api::object_ptr& pod, const container_resources& resources);

// Whether the container must restart for this change of resources.
bool restarts_for(const api::core::v1::Container& container,
                  const api::core::v1::ResourceRequirements& from,
                  const api::core::v1::ResourceRequirements& to);

// Whether the status shows this allocation and that it is being applied.
bool is_recorded(const pod_allocation& allocation, const api::core::v1::PodStatus& status);
// Whether the status shows that a resize was being applied; how far it got is unknown.
bool was_in_progress(const api::core::v1::PodStatus& status);

struct resize_progress {
  const pod_allocation& allocation;
  bool under_way = false;       // the allocation is not completely applied
  std::string_view error = {};  // of the last attempt; empty: no error
};

// Writes allocated and actual resources into the container statuses, and the conditions
// PodResizePending and PodResizeInProgress, which are present only while they are true.
void describe_resize(const resize_progress& progress,
                     const std::vector<container_record>& containers, runtime::wall_time now,
                     api::core::v1::PodStatus& status);

}  // namespace troupe::actors
