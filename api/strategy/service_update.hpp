// The fields that an update of a Service keeps or removes before it is validated. Pure.
#pragma once

namespace troupe::api {

namespace core::v1 {
class Service;
class ServiceSpec;
}  // namespace core::v1

// Whether its ports are opened on each node.
bool has_node_ports(const core::v1::ServiceSpec& spec);

// What the server once chose for a service stays, where the client does not say otherwise.
void keep_allocations(core::v1::Service& now, const core::v1::Service& was);
// Takes off what a change of the type makes meaningless, where the client only repeats what was:
// validation would refuse it.
//
// kubernetes: pkg/registry/core/service/strategy.go, dropTypeDependentFields.
void drop_leftovers(core::v1::Service& now, const core::v1::Service& was);

}  // namespace troupe::api
