// Constants of the kubelet actor's behaviour, each with its source.
#pragma once

#include <chrono>

namespace troupe::actors::node_defaults {

using namespace std::chrono_literals;

// How soon the Node shows that the container runtime fails or has recovered. kubernetes:
// nodeStatusUpdateFrequency is 10 s; a node that joins should not wait that long.
inline constexpr auto runtime_check = 1s;

}  // namespace troupe::actors::node_defaults
