// EndpointSlice in discovery.k8s.io/v1beta1: node and zone of an endpoint are labels in its
// topology. Zone and hints have other field numbers than in v1; releases that store v1beta1 as 1.20
// does have neither.
#include "api/schema/discovery_v1.pb.h"
#include "api/storage/version_shapes.hpp"

namespace troupe::api {

namespace {

using discovery::v1::EndpointSlice;

constexpr auto host_label = "kubernetes.io/hostname";
constexpr auto zone_label = "topology.kubernetes.io/zone";

void read(const body& stored, body& home) {
  home.CopyFrom(stored);
  for (auto& each : *static_cast<EndpointSlice&>(home).mutable_endpoints()) {
    // Field number 7 is a message in that version.
    each.clear_zone();
    each.clear_hints();
    auto& labels = *each.mutable_deprecated_topology();
    if (const auto host = labels.find(host_label); host != labels.end()) {
      if (!each.has_node_name()) each.set_node_name(host->second);
      labels.erase(host);
    }
    if (const auto zone = labels.find(zone_label); zone != labels.end()) {
      each.set_zone(zone->second);
      labels.erase(zone);
    }
  }
}

void write(const body& home, body& stored) {
  stored.CopyFrom(home);
  for (auto& each : *static_cast<EndpointSlice&>(stored).mutable_endpoints()) {
    auto& labels = *each.mutable_deprecated_topology();
    if (each.has_node_name()) labels[host_label] = each.node_name();
    if (each.has_zone()) labels[zone_label] = each.zone();
    each.clear_node_name();
    each.clear_zone();
    each.clear_hints();
  }
}

}  // namespace

const version_shape& endpoint_slice_v1beta1_shape() {
  static const version_shape made{*EndpointSlice::descriptor(), &read, &write};
  return made;
}

}  // namespace troupe::api
