// Ports and labels that identify EndpointSlices of a Service, for the controllers that write them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/schema/discovery_v1.pb.h"

namespace troupe::actors::endpoints {

// Name, number, protocol and application protocol of each port, sorted.
using port_key = std::vector<std::tuple<std::string, std::int32_t, std::string, std::string>>;

template <class Ports>
port_key key_of(const Ports& ports) {
  port_key key;
  for (const auto& port : ports)
    key.emplace_back(port.name(), port.port(), port.protocol().empty() ? "TCP" : port.protocol(),
                     port.app_protocol());
  std::sort(key.begin(), key.end());
  return key;
}

inline void set_ports(api::discovery::v1::EndpointSlice& slice, const port_key& key) {
  slice.clear_ports();
  for (const auto& [name, number, protocol, app_protocol] : key) {
    auto& port = *slice.add_ports();
    port.set_name(name);
    port.set_port(number);
    port.set_protocol(protocol);
    if (!app_protocol.empty()) port.set_app_protocol(app_protocol);
  }
}

template <class Labels>
void set_owner_labels(Labels& labels, const std::string& service, std::string_view manager) {
  labels["kubernetes.io/service-name"] = service;
  labels["endpointslice.kubernetes.io/managed-by"] = std::string{manager};
}

}  // namespace troupe::actors::endpoints
