// The constants that stand for behaviour of the kubelet's own actor, each with its source.
#pragma once

#include <chrono>

namespace troupe::actors::node_defaults {

using namespace std::chrono_literals;

// How soon the Node shows that the container runtime fails, or does no longer. kubernetes: the
// kubelet's nodeStatusUpdateFrequency is 10 s; a node that joins should not wait as long.
inline constexpr auto runtime_check = 1s;

}  // namespace troupe::actors::node_defaults
