// The addresses of the service network that belong to the cluster itself.
#pragma once

#include <string>
#include <string_view>

#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

// What uses the address, so that the Service with this metadata must not have it; empty: it may.
// `address` is in canonical form. Both addresses are of IPv4.
std::string_view reserved_for(const std::string& address, const api::meta::v1::ObjectMeta& service);

}  // namespace troupe::actors
