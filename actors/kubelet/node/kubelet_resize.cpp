// The part of the kubelet that handles resize requests of admitted pods
// (docs/decisions/0077-in-place-resize.md).
#include <algorithm>

#include "actors/core/log.hpp"
#include "actors/kubelet/node/kubelet.hpp"
#include "actors/kubelet/node/resize_rules.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

using api::core::v1::Pod;

// A pod counts with its allocated resources here, even if it requests or uses others: a resize that
// waits must not block other pods.
scheduler::pod_info_ptr kubelet::info_of(const known_pod& pod) const {
  auto read = scheduler::read_pod_info(pod.object);
  const auto& body = pod.object->as<Pod>();
  if (same_amounts(desired_resources(body), pod.allocation->resources) &&
      same_amounts(recorded_resources(body), pod.allocation->resources))
    return read;
  auto counted = std::make_shared<scheduler::pod_info>(*read);
  counted->requests = requests_with(body, pod.allocation->resources);
  return counted;
}

// Called after each change of the node or its pods: a deferred resize may fit now.
void kubelet::resize_pods() {
  std::erase_if(resizing_, [&](const std::string& uid) {
    const auto found = pods_.find(uid);
    return found == pods_.end() || resize(found->second);
  });
}

// Returns true if the pod needs no further decision.
bool kubelet::resize(known_pod& pod) {
  const auto& body = pod.object->as<Pod>();
  if (pod.gone || finished(body.status()) || body.metadata().has_deletion_timestamp()) return true;
  auto wanted = desired_resources(body);
  pod_allocation next{.resources = pod.allocation->resources,
                      .generation = pod.allocation->generation};
  if (!same_amounts(wanted, next.resources)) {
    node_view_.remove_pod(api::key_of(*pod.object));
    const auto* others = node_view_.find(node());
    next.pending = evaluate_resize(body, *others, context_->helpers.containers->resize_problem());
    if (!next.pending) {
      next.resources = std::move(wanted);
      next.generation = body.metadata().generation();
    }
  }
  const bool settled = !next.pending;
  if (next.pending != pod.allocation->pending || next.generation != pod.allocation->generation) {
    log().info("kubelet: {} at generation {}: resize {}", api::key_of(*pod.object),
               body.metadata().generation(),
               settled ? std::string{"is allocated"}
                       : "is " + next.pending->reason + ": " + next.pending->message);
    pod.allocation = std::make_shared<const pod_allocation>(std::move(next));
    notify_worker(pod);
  }
  count(pod);
  return settled;
}

}  // namespace troupe::actors
