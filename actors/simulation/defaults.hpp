// The constants of simulations. All are our own choice.
#pragma once

#include <cstddef>

namespace troupe::actors::simulation_defaults {

// The maximum of steps in one annotation.
inline constexpr std::size_t amount_steps = 256;
// The maximum of stages in a policy: each is checked for each pod.
inline constexpr int most_stages = 256;
// The maximum factor by which jitter extends a time.
inline constexpr double most_jitter = 100;

}  // namespace troupe::actors::simulation_defaults
