// Fields that an update of a Service keeps or removes before validation. Pure.
#pragma once

namespace troupe::api {

namespace core::v1 {
class Service;
class ServiceSpec;
}  // namespace core::v1

// Whether its ports are opened on each node.
bool has_node_ports(const core::v1::ServiceSpec& spec);

// Keeps values that the server once allocated, unless the client sets them. clusterIPs follows a
// change of clusterIP alone.
//
// kubernetes: pkg/registry/core/service/strategy.go, patchAllocatedValues and NormalizeClusterIPs.
void keep_allocations(core::v1::Service& now, const core::v1::Service& was);
// Removes fields that a change of the type makes invalid, if the client only repeats their old
// values: validation would refuse them.
//
// kubernetes: pkg/registry/core/service/strategy.go, dropTypeDependentFields.
void drop_leftovers(core::v1::Service& now, const core::v1::Service& was);

}  // namespace troupe::api
