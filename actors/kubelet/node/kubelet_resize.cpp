// What the kubelet does when a pod that it has taken asks for other resources
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

// Here a pod counts for what is set aside for it, also while it asks for more or has more in force:
// what waits for room must not keep others from it.
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

// Again whenever the node or one of its pods has changed: what had no room may have some now.
void kubelet::resize_pods() {
  std::erase_if(resizing_, [&](const std::string& uid) {
    const auto found = pods_.find(uid);
    return found == pods_.end() || resize(found->second);
  });
}

// Returns whether nothing is left to decide.
bool kubelet::resize(known_pod& pod) {
  const auto& body = pod.object->as<Pod>();
  if (pod.gone || finished(body.status()) || body.metadata().has_deletion_timestamp()) return true;
  auto wanted = desired_resources(body);
  pod_allocation next{.resources = pod.allocation->resources,
                      .generation = pod.allocation->generation};
  if (!same_amounts(wanted, next.resources)) {
    node_view_.remove_pod(api::key_of(*pod.object));
    const auto* others = node_view_.find(node());
    next.pending = judge_resize(body, *others, context_->helpers.containers->resize_problem());
    if (!next.pending) {
      next.resources = std::move(wanted);
      next.generation = body.metadata().generation();
    }
  }
  const bool settled = !next.pending;
  if (next.pending != pod.allocation->pending || next.generation != pod.allocation->generation) {
    log().info("kubelet: {} at generation {}: resize {}", api::key_of(*pod.object),
               body.metadata().generation(),
               settled ? std::string{"is set aside"}
                       : "is " + next.pending->reason + ": " + next.pending->message);
    pod.allocation = std::make_shared<const pod_allocation>(std::move(next));
    notify_worker(pod);
  }
  count(pod);
  return settled;
}

}  // namespace troupe::actors
