// The numbers of the kubelet, with where they come from.
#pragma once

#include <chrono>

namespace troupe::actors::kubelet_defaults {

using namespace std::chrono_literals;

// kubernetes: nodeLeaseDurationSeconds 40, renewed at a quarter of it.
inline constexpr auto lease_duration = 40s;
inline constexpr auto lease_renewal = 10s;

}  // namespace troupe::actors::kubelet_defaults
