// Chooses the address families of a Service: one, or both if the cluster has ranges of both.
// Pure. kubernetes: pkg/registry/core/service/storage, ipFamilyPolicy.
#pragma once

#include "api/schema/core_service.pb.h"
#include "api/validation/field_errors.hpp"

namespace troupe::actors {

// Completes ipFamilyPolicy and ipFamilies of a Service that is not an ExternalName, and removes a
// released second entry of clusterIPs. The caller allocates addresses that clusterIPs lacks.
// `was`: the Service before the change, or null. `dual`: the cluster has an IPv6 range for Services
// besides its IPv4 range; IPv4 is the default.
void choose_families(api::core::v1::Service& service, const api::core::v1::Service* was, bool dual,
                     api::field_errors& found);

}  // namespace troupe::actors
