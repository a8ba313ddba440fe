// The Endpoints and the EndpointSlices of default/kubernetes, by which programs in the cluster find
// the API (kubernetes: pkg/controlplane/reconcilers). Pure.
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

// A literal address that others than its own machine may call.
struct api_endpoint {
  std::string host;
  std::int32_t port = 0;

  friend auto operator<=>(const api_endpoint&, const api_endpoint&) = default;
};
using api_endpoints = std::vector<api_endpoint>;

// Endpoints are no place for an address that is one machine's alone: those on loopback are left
// out. In order, each once.
api_endpoints endpoints_of(const api_server_records& records);

// A slice has one family of addresses and one port.
struct api_slice {
  std::string name;
  bool ipv6 = false;
  std::int32_t port = 0;
  std::vector<std::string> addresses;
};
// The first is named as the Service, as upstream's only one.
std::vector<api_slice> slices_of(const api_endpoints& endpoints);

void complete(api::core::v1::Endpoints& object, const api_endpoints& endpoints);
void complete(api::discovery::v1::EndpointSlice& object, const api_slice& slice);

}  // namespace troupe::actors
