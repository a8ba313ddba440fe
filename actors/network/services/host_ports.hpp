// Converts the host ports of a pod to elements of the table's sets and maps (nft_table.hpp). Pure.
#pragma once

#include <string>
#include <vector>

#include "actors/network/services/service_elements.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::services {

// Whether ports of the node lead to this pod: a container or a sidecar has a host port, the pod has
// a network of its own, and it has not ended.
bool has_host_ports(const api::core::v1::Pod& pod);

// The addresses in the pod's status, without those of its node.
std::vector<std::string> own_addresses_of(const api::core::v1::Pod& pod);

// The elements for the pod's first address of `family`; none if it has none or no host ports. A
// hostIP that is absent or unspecified (0.0.0.0, ::) stands for all addresses of the node except
// its loopback addresses and that of DNS; one of the other family has no element
// (containernetworking: plugins/meta/portmap).
elements host_port_elements(const api::core::v1::Pod& pod,
                            const std::vector<std::string>& addresses,
                            const address_family& family);

}  // namespace troupe::actors::services
