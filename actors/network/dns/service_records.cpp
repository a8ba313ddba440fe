#include "actors/network/dns/service_records.hpp"

#include <algorithm>

#include "actors/network/defaults.hpp"
#include "actors/network/dns/dns_name.hpp"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/values/service_spec.hpp"

namespace troupe::actors::dns {
namespace {

using api::core::v1::Service;
using api::discovery::v1::Endpoint;
using api::discovery::v1::EndpointSlice;

constexpr const char* specification = "1.1.0";
// As in CoreDNS: plugin/kubernetes.
constexpr std::uint16_t priority = 0;
constexpr std::uint16_t full_weight = 100;

std::string label(const std::string& text) {
  return to_wire(text).value_or(std::string{});
}

// The port's name below the service's; empty if the port has no name.
std::string port_name(const std::string& port, const std::string& protocol,
                      const std::string& service_name) {
  if (port.empty()) return {};
  return label("_" + port) + label("_" + protocol) + service_name;
}

// An endpoint without the condition is ready.
bool is_listed(const Endpoint& endpoint) {
  return !endpoint.conditions().has_ready() || endpoint.conditions().ready();
}

// The host name of an endpoint, or one made from its address, as in CoreDNS.
std::string host_of(const Endpoint& endpoint) {
  if (!endpoint.hostname().empty()) return endpoint.hostname();
  auto text = endpoint.addresses(0);
  std::replace(text.begin(), text.end(), '.', '-');
  std::replace(text.begin(), text.end(), ':', '-');
  return text;
}

void add_reverse(std::vector<named_record>& to, const std::string& address,
                 const std::string& name) {
  if (auto reverse = reverse_name(address))
    to.emplace_back(std::move(*reverse), name_record(record_type::ptr, name));
}

void add_cluster_addresses(std::vector<named_record>& to, const Service& service,
                           const std::string& name) {
  std::vector<std::string> addresses{service.spec().cluster_ips().begin(),
                                     service.spec().cluster_ips().end()};
  if (addresses.empty()) addresses.push_back(service.spec().cluster_ip());
  for (const auto& address : addresses) {
    if (!address_bytes(address)) continue;
    to.emplace_back(name, address_record(address));
    add_reverse(to, address, name);
  }
  for (const auto& port : service.spec().ports())
    if (auto full = port_name(port.name(), port.protocol(), name); !full.empty())
      to.emplace_back(
          std::move(full),
          service_record(priority, full_weight, static_cast<std::uint16_t>(port.port()), name));
}

void add_endpoints(std::vector<named_record>& to, const EndpointSlice& slice,
                   const std::string& name) {
  for (const auto& endpoint : slice.endpoints()) {
    if (endpoint.addresses().empty() || !is_listed(endpoint)) continue;
    const auto host = label(host_of(endpoint)) + name;
    for (const auto& address : endpoint.addresses()) {
      if (!address_bytes(address)) continue;
      to.emplace_back(name, address_record(address));
      to.emplace_back(host, address_record(address));
      add_reverse(to, address, host);
    }
    for (const auto& port : slice.ports())
      if (auto full = port_name(port.name(), port.protocol(), name); !full.empty())
        to.emplace_back(
            std::move(full),
            service_record(priority, full_weight, static_cast<std::uint16_t>(port.port()), host));
  }
}

}  // namespace

std::vector<named_record> records_of(const api::object& service,
                                     const std::vector<api::object_ptr>& slices,
                                     const std::string& domain) {
  const auto& body = service.as<Service>();
  const auto name =
      label(service.meta().name()) + label(service.meta().namespace_()) + label("svc") + domain;
  std::vector<named_record> out;
  if (body.spec().type() == "ExternalName") {
    if (const auto target = to_wire(body.spec().external_name()))
      out.emplace_back(name, name_record(record_type::cname, *target));
  } else if (!api::is_headless(body.spec())) {
    add_cluster_addresses(out, body, name);
  } else {
    for (const auto& slice : slices)
      add_endpoints(out, slice->as<EndpointSlice>(), name);
  }
  return out;
}

std::vector<named_record> domain_records(const std::string& domain, const std::string& address) {
  return {{domain, domain_authority(domain)},
          {domain, name_record(record_type::ns, server_name(domain))},
          {server_name(domain), address_record(address)},
          {label("dns-version") + domain, text_record(specification)}};
}

std::string server_name(const std::string& domain) {
  return label("ns") + label("dns") + domain;
}

record domain_authority(const std::string& domain) {
  return authority_record(server_name(domain), label("hostmaster") + domain, 1,
                          network_defaults::dns_ttl_s);
}

}  // namespace troupe::actors::dns
