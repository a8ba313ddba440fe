// The EndpointSlices that mirror hand-written Endpoints of a Service without a selector
// (kubernetes: pkg/controller/endpointslicemirroring). Pure functions.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"

namespace troupe::actors::slice_mirroring {

// kubernetes: mirroring-max-endpoints-per-subset; further addresses are left out.
inline constexpr int most_addresses = 1'000;

struct mirror_plan {
  using slice = std::unique_ptr<api::discovery::v1::EndpointSlice>;
  std::vector<slice> create;  // without a name
  std::vector<std::pair<api::object_ptr, slice>> update;
  std::vector<api::object_ptr> remove;
};

// False if the endpoints controller wrote them, for a Service with a selector.
bool is_hand_written(const api::object& endpoints);

// True if the Endpoints are mirrored: hand-written, and no label or annotation opts out.
bool is_mirrored(const api::object& endpoints);

// `service`: the Service of that name; null or with a selector: no slices. `present`: the existing
// mirror slices. One slice holds the addresses of one family with the same ports.
mirror_plan plan_mirror(const api::object& endpoints, const api::object_ptr& service,
                        const std::vector<api::object_ptr>& present);

}  // namespace troupe::actors::slice_mirroring
