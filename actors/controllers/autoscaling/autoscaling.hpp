// The controller of HorizontalPodAutoscalers: every 15 s it reads the resource usage of the
// target's pods (actors/usage/usage_collector.hpp) and writes the resulting number of pods
// (autoscaler_plan.hpp) to the target, in one transaction with its own status.
//
// Earlier recommendations are kept only in the autoscaler's actor: after a restart it begins with
// the current number and scales down only after a whole window, as upstream.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::autoscaling {

controller_type controller();

}  // namespace troupe::actors::autoscaling
