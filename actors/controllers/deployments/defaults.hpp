// The constants of the Deployment controller with their sources.
#pragma once

#include <chrono>

namespace troupe::actors::deployments::defaults {

using namespace std::chrono_literals;

// progressDeadlineSeconds of this or more means "no deadline" (kubernetes:
// deployment/util.HasProgressDeadline, MaxInt32).
inline constexpr int no_deadline = 2'147'483'647;

// Recreate waits until the last old pod is gone; terminating pods cause no event of the set.
inline constexpr auto pods_left_recheck = 1s;

// Length limit of the annotation revision-history, in characters (deployment/util).
inline constexpr std::size_t history_limit_chars = 2'000;

}  // namespace troupe::actors::deployments::defaults
