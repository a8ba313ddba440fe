// The part of the kubelet that shows problems of the network of its pods in the Node's conditions.
#include <algorithm>
#include <utility>

#include "actors/core/condition.hpp"
#include "actors/kubelet/node/kubelet.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

bool kubelet::has_new_network_problem() {
  if (!options_.network_problem) return false;
  const auto before = std::exchange(network_problem_, options_.network_problem());
  return before != network_problem_;
}

// The condition of another program (such as Calico) stays, unless there is a problem.
void kubelet::describe_network(api::core::v1::NodeStatus& status) const {
  auto& conditions = *status.mutable_conditions();
  const auto* shown = find_condition(conditions, network_condition);
  const bool others = shown != nullptr && shown->reason() != network_is_up &&
                      shown->reason() != network_has_problems;
  if (!options_.network_problem) {
    if (shown != nullptr && !others)
      conditions.erase(std::find_if(conditions.begin(), conditions.end(),
                                    [&](const auto& each) { return &each == shown; }));
    return;
  }
  if (!network_problem_ || (others && network_problem_->empty())) return;
  const auto now = wall_now();
  const auto value =
      network_problem_->empty()
          ? condition_value{network_condition, "False", network_is_up,
                            "pods have their addresses and routes"}
          : condition_value{network_condition, "True", network_has_problems, *network_problem_};
  if (set_condition(conditions, value, now))
    find_condition(conditions, network_condition)
        ->mutable_last_heartbeat_time()
        ->set_seconds(seconds_of(now));
}

}  // namespace troupe::actors
