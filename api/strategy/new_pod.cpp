#include "api/strategy/new_pod.hpp"

#include "api/object/pod_resources.hpp"

namespace troupe::api {

using namespace core::v1;

void initialize_pod(Pod& pod) {
  auto& spec = *pod.mutable_spec();
  // kubernetes: api/pod/util.go, dropDisabledFields: PodLevelResources is off in 1.33.
  spec.clear_resources();
  pod.clear_status();
  auto& status = *pod.mutable_status();
  status.set_phase("Pending");
  status.set_qos_class(std::string(qos_class(spec)));
  if (spec.scheduling_gates().empty()) return;
  auto& condition = *status.add_conditions();
  condition.set_type("PodScheduled");
  condition.set_status("False");
  condition.set_reason("SchedulingGated");
  condition.set_message("Scheduling is blocked due to non-empty scheduling gates");
}

}  // namespace troupe::api
