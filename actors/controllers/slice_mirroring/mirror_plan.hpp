// The EndpointSlices of Endpoints that somebody wrote by hand, for a Service without a selector
// (kubernetes: pkg/controller/endpointslicemirroring). Pure.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"

namespace troupe::actors::slice_mirroring {

// kubernetes: mirroring-max-endpoints-per-subset; what is beyond is left out.
inline constexpr int most_addresses = 1'000;

struct mirror_plan {
  using slice = std::unique_ptr<api::discovery::v1::EndpointSlice>;
  std::vector<slice> create;  // without a name
  std::vector<std::pair<api::object_ptr, slice>> update;
  std::vector<api::object_ptr> remove;
};

// Whether they are mirrored at all: not where their label or their annotation says no, nor where a
// Service made them.
bool is_mirrored(const api::object& endpoints);

// `service`: of that name; null or with a selector: no slices are wanted. `present`: those that the
// Endpoints have. There is one slice for the addresses of a family with the same ports.
mirror_plan plan_mirror(const api::object& endpoints, const api::object_ptr& service,
                        const std::vector<api::object_ptr>& present);

}  // namespace troupe::actors::slice_mirroring
