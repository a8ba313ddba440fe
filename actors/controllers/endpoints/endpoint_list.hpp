// The Endpoints of a Service: the addresses of its pods, by the ports that they have. Pure.
#pragma once

#include <memory>
#include <vector>

#include "actors/controllers/endpoints/service_pods.hpp"

namespace troupe::actors::endpoints {

// So many addresses at most; an annotation says that there are more (kubernetes:
// endpoints_controller.go, maxCapacity).
inline constexpr std::size_t most_addresses = 1'000;

// Name, namespace, labels and subsets. A pod that is being deleted is no longer told of, unless the
// Service publishes addresses that are not ready. Subsets and addresses are in an order that
// depends on nothing else.
std::unique_ptr<api::core::v1::Endpoints> endpoints_of(const api::core::v1::Service& service,
                                                       const std::vector<api::object_ptr>& pods);

}  // namespace troupe::actors::endpoints
