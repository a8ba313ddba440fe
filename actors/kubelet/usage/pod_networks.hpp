// The network counters of pods, from the machine's side of their devices: CNI plugins that route to
// each pod (ptp, Calico) make a route to its address over its device. Others have none here.
#pragma once

#include <string>
#include <vector>

#include "actors/kubelet/runtime/usage.hpp"

namespace troupe::actors {

// From the texts of /proc/net/route and /proc/net/dev; at most
// `kubelet_defaults::measured_networks`. What the device receives was sent by the pod. Pure.
std::vector<network_counters> parse_pod_networks(const std::string& routes,
                                                 const std::string& devices);

// Reads those files: not for actor threads.
std::vector<network_counters> read_pod_networks();

}  // namespace troupe::actors
