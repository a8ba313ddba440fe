#include "actors/api_servers/api_endpoints.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

using api::core::v1::Endpoints;
using api::discovery::v1::EndpointSlice;

namespace {

bool is_ipv6(const std::string& host) {
  return host.find(':') != std::string::npos;
}

bool is_own_machine(const std::string& host) {
  return host == "::1" || host == "localhost" || host.starts_with("127.");
}

template <class Ports>
void add_port(Ports& ports, std::int32_t number) {
  auto& port = *ports.Add();
  port.set_name(api_port_name);
  port.set_protocol("TCP");
  port.set_port(number);
}

}  // namespace

api_endpoints endpoints_of(const api_server_records& records) {
  api_endpoints all;
  for (const auto& each : records) {
    const auto colon = each.api.rfind(':');
    if (colon == std::string::npos) continue;
    api_endpoint at{each.api.substr(0, colon), 0};
    if (at.host.starts_with('[') && at.host.ends_with(']'))
      at.host = at.host.substr(1, at.host.size() - 2);
    std::from_chars(each.api.data() + colon + 1, each.api.data() + each.api.size(), at.port);
    if (at.port > 0 && !is_own_machine(at.host)) all.push_back(std::move(at));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<api_slice> slices_of(const api_endpoints& endpoints) {
  std::map<std::pair<bool, std::int32_t>, api_slice> by_form;
  for (const auto& each : endpoints) {
    const bool ipv6 = is_ipv6(each.host);
    auto& slice = by_form[{ipv6, each.port}];
    slice.ipv6 = ipv6;
    slice.port = each.port;
    slice.addresses.push_back(each.host);
  }
  std::vector<api_slice> all;
  for (auto& [form, slice] : by_form) {
    slice.name = api_service_name;
    if (!all.empty()) slice.name += (slice.ipv6 ? "-ipv6-" : "-ipv4-") + std::to_string(slice.port);
    all.push_back(std::move(slice));
  }
  return all;
}

void complete(Endpoints& object, const api_endpoints& endpoints) {
  // Prevents other controllers from mirroring the Endpoints: the slices already exist.
  auto& labels = *object.mutable_metadata()->mutable_labels();
  labels["endpointslice.kubernetes.io/skip-mirror"] = "true";
  object.clear_subsets();
  std::map<std::int32_t, std::vector<const api_endpoint*>> by_port;
  for (const auto& each : endpoints)
    by_port[each.port].push_back(&each);
  for (const auto& [port, all] : by_port) {
    auto& subset = *object.add_subsets();
    for (const auto* each : all)
      subset.add_addresses()->set_ip(each->host);
    add_port(*subset.mutable_ports(), port);
  }
}

// kubernetes: pkg/controlplane/reconcilers/endpointsadapter.go, endpointSliceFromEndpoints.
void complete(EndpointSlice& object, const api_slice& slice) {
  (*object.mutable_metadata()->mutable_labels())["kubernetes.io/service-name"] = api_service_name;
  object.set_address_type(slice.ipv6 ? "IPv6" : "IPv4");
  object.clear_endpoints();
  for (const auto& address : slice.addresses) {
    auto& each = *object.add_endpoints();
    each.add_addresses(address);
    each.mutable_conditions()->set_ready(true);
  }
  object.clear_ports();
  add_port(*object.mutable_ports(), slice.port);
}

}  // namespace troupe::actors
