#include "actors/controllers/replication/pod_record.hpp"

#include <algorithm>

#include "api/schema/core_pod.pb.h"
#include "api/values/integer.hpp"

namespace troupe::actors::replication {

namespace {

using api::core::v1::Pod;

pod_phase read_phase(const std::string& phase) {
  if (phase == "Running") return pod_phase::running;
  if (phase == "Succeeded") return pod_phase::succeeded;
  if (phase == "Failed") return pod_phase::failed;
  if (phase == "Unknown") return pod_phase::unknown;
  return pod_phase::pending;
}

// An annotation that is not a number counts as 0, as upstream (GetDeletionCostFromPodAnnotations).
std::int32_t read_deletion_cost(const Pod& pod) {
  const auto& annotations = pod.metadata().annotations();
  auto found = annotations.find("controller.kubernetes.io/pod-deletion-cost");
  if (found == annotations.end()) return 0;
  return api::parse_integer<std::int32_t>(found->second).value_or(0);
}

// The maximum over init containers that run beside the others.
std::int32_t sidecar_restarts(const Pod& pod) {
  std::int32_t most = 0;
  for (const auto& container : pod.spec().init_containers()) {
    if (container.restart_policy() != "Always") continue;
    for (const auto& status : pod.status().init_container_statuses())
      if (status.name() == container.name()) most = std::max(most, status.restart_count());
  }
  return most;
}

}  // namespace

const Pod& pod_record::body() const {
  return pod->as<Pod>();
}
const std::string& pod_record::uid() const {
  return pod->meta().uid();
}
const std::string& pod_record::node() const {
  return body().spec().node_name();
}

pod_record read_pod(api::object_ptr pod) {
  pod_record record;
  const auto& body = pod->as<Pod>();
  record.phase = read_phase(body.status().phase());
  record.deleting = body.metadata().has_deletion_timestamp();
  record.assigned = !body.spec().node_name().empty();
  record.created = body.metadata().creation_timestamp().seconds();
  record.deletion_cost = read_deletion_cost(body);
  for (const auto& condition : body.status().conditions()) {
    if (condition.type() != "Ready" || condition.status() != "True") continue;
    record.ready = true;
    record.ready_since = condition.last_transition_time().seconds();
  }
  for (const auto& container : body.status().container_statuses())
    record.restarts = std::max(record.restarts, container.restart_count());
  record.sidecar_restarts = sidecar_restarts(body);
  record.pod = std::move(pod);
  return record;
}

}  // namespace troupe::actors::replication
