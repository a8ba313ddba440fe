// The numbers of simulations. All of them are ours.
#pragma once

#include <cstddef>

namespace troupe::actors::simulation_defaults {

// Steps of an amount over time that are read of one annotation.
inline constexpr std::size_t amount_steps = 256;
// Of one policy: each is looked at for each pod.
inline constexpr int most_stages = 256;
// By which part of it jitter makes a time longer at most.
inline constexpr double most_jitter = 100;

}  // namespace troupe::actors::simulation_defaults
