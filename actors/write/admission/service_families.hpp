// The families of addresses that a Service has: one, or both where the cluster has ranges of both.
// Pure. kubernetes: pkg/registry/core/service/storage, ipFamilyPolicy.
#pragma once

#include "api/schema/core_service.pb.h"
#include "api/validation/findings.hpp"

namespace troupe::actors {

// Completes ipFamilyPolicy, ipFamilies and clusterIPs of a Service that is no ExternalName, as far
// as these follow from each other; an address that is still to be chosen is missing in clusterIPs.
// `was`: the Service before the change, or null. `dual`: the cluster has addresses of IPv6 for
// Services, besides those of IPv4, which come first.
void choose_families(api::core::v1::Service& service, const api::core::v1::Service* was, bool dual,
                     api::findings& found);

}  // namespace troupe::actors
