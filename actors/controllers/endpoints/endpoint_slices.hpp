// The EndpointSlices of a Service: plans the writes that bring them up to date, as few as possible
// (kubernetes: endpointslice/reconciler.go). Pure functions.
#pragma once

#include <functional>
#include <map>
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
  // For a Service that wants topology hints, by address family: why its endpoints get none; empty
  // if they get some.
  std::map<std::string, std::string> no_hints = {};
};

// Returns the zone of a node; empty if unknown.
using zone_of_node = std::function<std::string(const std::string& node)>;

// `present`: the existing slices of the Service. An endpoint stays in its slice; new endpoints fill
// the fullest slice first. A Service without pods has one empty slice. With trafficDistribution
// PreferClose each ready endpoint is hinted to its own zone (kubernetes: trafficdist); topology
// hints are calculated from `zones`.
slice_plan plan_slices(const api::core::v1::Service& service,
                       const std::vector<api::object_ptr>& pods,
                       const std::vector<api::object_ptr>& present,
                       const zone_of_node& zone_of = {}, const zone_cpu& zones = {});

}  // namespace troupe::actors::endpoints
