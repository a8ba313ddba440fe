// The Endpoints and EndpointSlices of default/kubernetes, by which programs in the cluster find the
// API (kubernetes: pkg/controlplane/reconcilers). Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/api_servers/api_server_record.hpp"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"

namespace troupe::actors {

inline constexpr const char* api_service_name = "kubernetes";
inline constexpr const char* api_service_namespace = "default";
inline constexpr const char* api_port_name = "https";

// A literal address that other machines can reach.
struct api_endpoint {
  std::string host;
  std::int32_t port = 0;

  friend auto operator<=>(const api_endpoint&, const api_endpoint&) = default;
};
using api_endpoints = std::vector<api_endpoint>;

// Sorted, without duplicates, and without loopback addresses, which only their own machine
// reaches.
api_endpoints endpoints_of(const api_server_records& records);

// A slice has one address family and one port.
struct api_slice {
  std::string name;
  bool ipv6 = false;
  std::int32_t port = 0;
  std::vector<std::string> addresses;
};
// The first slice has the name of the Service, like upstream's only slice.
std::vector<api_slice> slices_of(const api_endpoints& endpoints);

void complete(api::core::v1::Endpoints& object, const api_endpoints& endpoints);
void complete(api::discovery::v1::EndpointSlice& object, const api_slice& slice);

}  // namespace troupe::actors
