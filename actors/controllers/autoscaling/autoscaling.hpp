// The controller of HorizontalPodAutoscalers: asks every 15 s what the pods of its target use
// (actors/usage/usage_desk.hpp), and writes the number of pods that follows from that
// (autoscaler_plan.hpp) into the target, in one transaction with its own status.
//
// What an autoscaler recommended before is known to its actor alone: one that was restarted begins
// with what is there, and scales down only after a whole window, as upstream.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::autoscaling {

controller_type controller();

}  // namespace troupe::actors::autoscaling
