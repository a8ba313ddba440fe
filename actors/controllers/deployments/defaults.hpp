// The numbers of the deployment controller, with where they come from.
#pragma once

#include <chrono>

namespace troupe::actors::deployments::defaults {

using namespace std::chrono_literals;

// progressDeadlineSeconds of this or more means "no deadline" (kubernetes:
// deployment/util.HasProgressDeadline, MaxInt32).
inline constexpr int no_deadline = 2'147'483'647;

// Recreate waits for the last old pod to be gone; pods that terminate cause no event of the set.
inline constexpr auto pods_left_recheck = 1s;

// Past revisions that the annotation revision-history may name, in characters (deployment/util).
inline constexpr std::size_t history_limit_chars = 2'000;

}  // namespace troupe::actors::deployments::defaults
