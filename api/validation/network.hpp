// Rules of ingresses, network policies, endpoint slices and addresses; for the table of rows
// (kinds/). `out.at` is the path of the object.
#pragma once

#include "api/schema/discovery_v1.pb.h"
#include "api/schema/networking_policy.pb.h"
#include "api/schema/networking_v1.pb.h"
#include "api/validation/field_errors.hpp"

namespace troupe::api::validation {

void check(field_errors& out, const discovery::v1::EndpointSlice& object);

void check(field_errors& out, const networking::v1::Ingress& object);
void check_create(field_errors& out, const networking::v1::Ingress& object);
void check(field_errors& out, const networking::v1::IngressClass& object);
void check(field_errors& out, const networking::v1::NetworkPolicy& object);
void check(field_errors& out, const networking::v1::ServiceCIDR& object);
void check_update(field_errors& out, const networking::v1::ServiceCIDR& now,
                  const networking::v1::ServiceCIDR& was);
void check(field_errors& out, const networking::v1::IPAddress& object);

}  // namespace troupe::api::validation
