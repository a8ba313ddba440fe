// The Endpoints of a Service: the addresses of its pods, grouped by ports. Pure functions.
#pragma once

#include <memory>
#include <vector>

#include "actors/controllers/endpoints/service_pods.hpp"

namespace troupe::actors::endpoints {

// The maximum of addresses; an annotation marks a truncated list (kubernetes:
// endpoints_controller.go, maxCapacity).
inline constexpr std::size_t most_addresses = 1'000;
inline constexpr const char* over_capacity = "endpoints.kubernetes.io/over-capacity";

// Builds name, namespace, labels and subsets. Terminating pods are left out unless the
// Service publishes not-ready addresses. The order of subsets and addresses is
// deterministic.
std::unique_ptr<api::core::v1::Endpoints> endpoints_of(const api::core::v1::Service& service,
                                                       const std::vector<api::object_ptr>& pods);

}  // namespace troupe::actors::endpoints
