// The EndpointSlices of a Service: what is to be written so that they tell where its pods are, with
// as few writes as that takes (kubernetes: endpointslice/reconciler.go). Pure.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/controllers/endpoints/topology_hints.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"

namespace troupe::actors::endpoints {

// kubernetes: max-endpoints-per-slice.
inline constexpr int most_endpoints = 100;

struct slice_plan {
  using slice = std::unique_ptr<api::discovery::v1::EndpointSlice>;
  std::vector<slice> create;  // without a name
  std::vector<std::pair<api::object_ptr, slice>> update;
  std::vector<api::object_ptr> remove;
  // Of a Service that wants topology hints: why its endpoints get none.
  std::string no_hints = {};
};

// Where a node stands; empty: nobody has said.
using zone_of_node = std::function<std::string(const std::string& node)>;

// `present`: the slices that the Service has. An endpoint stays in its slice; new ones fill up the
// fullest. A Service without any pod has one slice that is empty. With trafficDistribution
// PreferClose each ready endpoint is hinted to its own zone (kubernetes: trafficdist); a Service
// that wants topology hints gets those by `zones`.
slice_plan plan_slices(const api::core::v1::Service& service,
                       const std::vector<api::object_ptr>& pods,
                       const std::vector<api::object_ptr>& present,
                       const zone_of_node& zone_of = {}, const zone_cpu& zones = {});

}  // namespace troupe::actors::endpoints
