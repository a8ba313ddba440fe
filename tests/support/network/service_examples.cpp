#include "support/network/service_examples.hpp"

#include <memory>

#include "api/scheme.hpp"

namespace troupe::test {

using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;

Service service_body(const std::string& name, const std::string& address, const port_list& ports) {
  Service body;
  body.mutable_metadata()->set_name(name);
  body.mutable_metadata()->set_namespace_("default");
  body.mutable_spec()->set_type("ClusterIP");
  body.mutable_spec()->set_cluster_ip(address);
  body.mutable_spec()->add_cluster_ips(address);
  for (const auto& [port_name, number] : ports) {
    auto& port = *body.mutable_spec()->add_ports();
    port.set_name(port_name);
    port.set_port(number);
    port.set_protocol("TCP");
  }
  return body;
}

EndpointSlice slice_body(const std::string& service, const port_list& ports,
                         const std::vector<endpoint_example>& endpoints) {
  EndpointSlice body;
  body.mutable_metadata()->set_name(service + "-slice");
  body.mutable_metadata()->set_namespace_("default");
  (*body.mutable_metadata()->mutable_labels())["kubernetes.io/service-name"] = service;
  body.set_address_type("IPv4");
  for (const auto& [name, number] : ports) {
    auto& port = *body.add_ports();
    port.set_name(name);
    port.set_port(number);
    port.set_protocol("TCP");
  }
  for (const auto& each : endpoints) {
    auto& endpoint = *body.add_endpoints();
    endpoint.add_addresses(each.address);
    if (!each.hostname.empty()) endpoint.set_hostname(each.hostname);
    if (!each.node.empty()) endpoint.set_node_name(each.node);
    if (!each.zone.empty()) endpoint.mutable_hints()->add_for_zones()->set_name(each.zone);
    endpoint.mutable_conditions()->set_ready(each.ready);
    endpoint.mutable_conditions()->set_serving(each.serving);
    endpoint.mutable_conditions()->set_terminating(each.terminating);
  }
  return body;
}

api::object_ptr object_of(const Service& body) {
  return std::make_shared<const api::object>(api::kind_of<Service>(),
                                             std::make_unique<Service>(body), 1);
}

api::object_ptr object_of(const EndpointSlice& body) {
  return std::make_shared<const api::object>(api::kind_of<EndpointSlice>(),
                                             std::make_unique<EndpointSlice>(body), 1);
}

api::object_ptr external_service(const std::string& name, const std::string& target) {
  auto body = service_body(name, "", {});
  body.mutable_spec()->set_type("ExternalName");
  body.mutable_spec()->set_external_name(target);
  return object_of(body);
}

}  // namespace troupe::test
