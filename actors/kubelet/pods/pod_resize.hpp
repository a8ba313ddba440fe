// In-place resize of a pod on its node: what the pod asks for, what the node has set aside for it,
// what is in force, and what the pod's status says of these. Pure.
//
// The status in the store is the checkpoint: nothing is put into force before it says what is set
// aside, and a kubelet that begins again reads it there (docs/decisions/0077-in-place-resize.md).
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

// By name, of the containers that can be resized: the main ones and sidecars.
using container_resources = std::map<std::string, api::core::v1::ResourceRequirements>;

// Why what a pod asks for is not set aside.
struct pending_resize {
  std::string reason;  // "Deferred": not now; "Infeasible": not on this node
  std::string message;
  std::int64_t generation = 0;  // of the pod that was judged

  bool operator==(const pending_resize&) const = default;
};

// What the kubelet has set aside for a pod.
struct pod_allocation {
  container_resources resources;
  std::int64_t generation = 0;                 // of the pod that asked for it
  std::optional<pending_resize> pending = {};  // the pod asks for something else now
};

// Of the spec.
container_resources desired_resources(const api::core::v1::Pod& pod);
// What was set aside, as the status says; of a container that it says nothing of, the spec's. The
// status does not say limits: they are the spec's where the requests are, else those in force.
pod_allocation recorded_allocation(const api::core::v1::Pod& pod);
// What is in force, as the status says.
container_resources recorded_resources(const api::core::v1::Pod& pod);

// The same amounts, however they are written.
bool same_amounts(const api::core::v1::ResourceRequirements& a,
                  const api::core::v1::ResourceRequirements& b);
bool same_amounts(const container_resources& a, const container_resources& b);

void set_resources(api::core::v1::Pod& pod, const container_resources& resources);
// The pod with these resources; itself where it has them already.
api::object_ptr with_resources(const api::object_ptr& pod, const container_resources& resources);

// Whether the container restarts for the change.
bool restarts_for(const api::core::v1::Container& container,
                  const api::core::v1::ResourceRequirements& from,
                  const api::core::v1::ResourceRequirements& to);

// Whether the status says that this is set aside and is being put into force.
bool is_recorded(const pod_allocation& allocation, const api::core::v1::PodStatus& status);
// Whether it says that something was being put into force: how far that came is not known.
bool was_in_progress(const api::core::v1::PodStatus& status);

struct resize_progress {
  const pod_allocation& allocation;
  bool under_way = false;       // not all that is set aside is in force
  std::string_view error = {};  // of the last attempt; empty: none
};

// Writes what is set aside and what is in force into the status of the containers, and the
// conditions PodResizePending and PodResizeInProgress, which stand there only while they hold.
void describe_resize(const resize_progress& progress,
                     const std::vector<container_record>& containers, runtime::wall_time now,
                     api::core::v1::PodStatus& status);

}  // namespace troupe::actors
