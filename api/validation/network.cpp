// Endpoint slices, network policies and addresses (kubernetes: pkg/apis/discovery/validation,
// pkg/apis/networking/validation).
#include "api/validation/network.hpp"

#include <set>

#include "api/equality.hpp"
#include "api/validation/checks.hpp"
#include "api/values/cidr.hpp"

namespace troupe::api::validation {
namespace {

using discovery::v1::Endpoint;
using discovery::v1::EndpointPort;
using discovery::v1::EndpointSlice;
using namespace networking::v1;

// Kubernetes, discovery/validation.
constexpr int most_endpoints = 1000;
constexpr int most_ports = 20'000;
constexpr int most_addresses = 100;
constexpr int most_hints = 8;

void check_address(field_errors& out, const std::string& address, const std::string& type) {
  if (type == "FQDN") {
    out.each({}, address, check_dns_subdomain(address));
  } else if (type == "IPv4" || type == "IPv6") {
    if (ip_family(address) != type)
      out.invalid({}, address,
                  type == "IPv4" ? "must be an IPv4 address" : "must be an IPv6 address");
  }
}

template <class Hints>
void check_hints(field_errors& out, std::string_view field, const Hints& hints) {
  out.at_most(field, hints.size(), most_hints);
  std::set<std::string> seen;
  for (int i = 0; i < hints.size(); ++i) {
    const auto step = out.at.item(field, i);
    if (!seen.insert(hints[i].name()).second) out.duplicate("name", hints[i].name());
    out.each("name", hints[i].name(), check_label_value(hints[i].name()));
  }
}

void check_endpoint(field_errors& out, const Endpoint& endpoint, const std::string& type) {
  if (endpoint.addresses().empty()) out.required("addresses", "must contain at least 1 address");
  out.at_most("addresses", endpoint.addresses_size(), most_addresses);
  for (int i = 0; i < endpoint.addresses_size(); ++i) {
    const auto step = out.at.item("addresses", i);
    check_address(out, endpoint.addresses(i), type);
  }
  if (endpoint.has_node_name())
    out.each("nodeName", endpoint.node_name(), check_dns_subdomain(endpoint.node_name()));
  if (!endpoint.has_hints()) return;
  const auto step = out.at.field("hints");
  check_hints(out, "forZones", endpoint.hints().for_zones());
  check_hints(out, "forNodes", endpoint.hints().for_nodes());
}

void check_slice_ports(field_errors& out, const EndpointSlice& object) {
  out.at_most("ports", object.ports_size(), most_ports);
  std::set<std::string> names;
  for (int i = 0; i < object.ports_size(); ++i) {
    const auto step = out.at.item("ports", i);
    const EndpointPort& port = object.ports(i);
    if (!port.name().empty()) out.each("name", port.name(), check_dns_label(port.name()));
    if (!names.insert(port.name()).second) out.duplicate("name", port.name());
    if (port.has_app_protocol())
      out.each("appProtocol", port.app_protocol(), check_qualified_name(port.app_protocol()));
  }
}

void check_policy_port(field_errors& out, const NetworkPolicyPort& port) {
  if (!port.has_port()) {
    if (port.has_end_port())
      out.invalid("endPort", port.end_port(), "may not be specified when `port` is not specified");
    return;
  }
  const auto& value = port.port();
  if (value.type() != 0) {
    if (port.has_end_port())
      out.invalid("endPort", port.end_port(), "may not be specified when `port` is non-numeric");
    return out.each("port", value.str_val(), check_port_name(value.str_val()));
  }
  for (const auto& complaint : check_port_number(value.int_val()))
    out.invalid("port", value.int_val(), complaint);
  if (!port.has_end_port()) return;
  if (port.end_port() < value.int_val())
    out.invalid("endPort", port.end_port(), "must be greater than or equal to `port`");
  for (const auto& complaint : check_port_number(port.end_port()))
    out.invalid("endPort", port.end_port(), complaint);
}

void check_block(field_errors& out, const IPBlock& block) {
  const auto step = out.at.field("ipBlock");
  if (block.cidr().empty()) return;
  out.each("cidr", block.cidr(), check_cidr(block.cidr()));
  const auto whole = cidr::parse(block.cidr());
  if (!whole) return;
  for (int i = 0; i < block.except_size(); ++i) {
    const auto inner = out.at.item("except", i);
    out.each({}, block.except(i), check_cidr(block.except(i)));
    const auto part = cidr::parse(block.except(i));
    if (part && (!whole->contains(*part) || part->prefix_bits() == whole->prefix_bits()))
      out.invalid({}, block.except(i), "must be a strict subset of `cidr`");
  }
}

void check_selector(field_errors& out, std::string_view field,
                    const meta::v1::LabelSelector& selector) {
  const auto step = out.at.field(field);
  check_label_selector(out, selector);
}

void check_peer(field_errors& out, const NetworkPolicyPeer& peer) {
  if (peer.has_pod_selector()) check_selector(out, "podSelector", peer.pod_selector());
  if (peer.has_namespace_selector())
    check_selector(out, "namespaceSelector", peer.namespace_selector());
  const bool selects = peer.has_pod_selector() || peer.has_namespace_selector();
  if (peer.has_ip_block()) check_block(out, peer.ip_block());
  if (!selects && !peer.has_ip_block()) out.required({}, "must specify a peer");
  if (selects && peer.has_ip_block())
    out.forbidden({}, "may not specify both ipBlock and another peer");
}

template <class Peers, class Ports>
void check_direction(field_errors& out, std::string_view field, const Peers& peers,
                     const Ports& ports) {
  for (int i = 0; i < ports.size(); ++i) {
    const auto step = out.at.item("ports", i);
    check_policy_port(out, ports[i]);
  }
  for (int i = 0; i < peers.size(); ++i) {
    const auto step = out.at.item(field, i);
    check_peer(out, peers[i]);
  }
}

}  // namespace

void check(field_errors& out, const EndpointSlice& object) {
  out.at_most("endpoints", object.endpoints_size(), most_endpoints);
  for (int i = 0; i < object.endpoints_size(); ++i) {
    const auto step = out.at.item("endpoints", i);
    check_endpoint(out, object.endpoints(i), object.address_type());
  }
  check_slice_ports(out, object);
}

void check(field_errors& out, const NetworkPolicy& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  check_selector(out, "podSelector", spec.pod_selector());
  for (int i = 0; i < spec.ingress_size(); ++i) {
    const auto inner = out.at.item("ingress", i);
    check_direction(out, "from", spec.ingress(i).from(), spec.ingress(i).ports());
  }
  for (int i = 0; i < spec.egress_size(); ++i) {
    const auto inner = out.at.item("egress", i);
    check_direction(out, "to", spec.egress(i).to(), spec.egress(i).ports());
  }
  if (spec.policy_types_size() > 2)
    out.invalid_json("policyTypes", "[]", "may not specify more than two policyTypes");
}

void check(field_errors& out, const ServiceCIDR& object) {
  const auto step = out.at.field("spec");
  const auto& ranges = object.spec().cidrs();
  if (ranges.empty()) return out.required("cidrs", "at least one CIDR required");
  if (ranges.size() > 2) return out.invalid_json("cidrs", "[]", "may only hold up to 2 values");
  std::set<bool> families;
  for (int i = 0; i < ranges.size(); ++i) {
    const auto inner = out.at.item("cidrs", i);
    const auto parsed = cidr::parse(ranges[i]);
    if (!parsed)
      out.each({}, ranges[i], check_cidr(ranges[i]));
    else if (!parsed->is_canonical())
      out.invalid({}, ranges[i], "must be in canonical form");
    else if (!families.insert(parsed->is_v6()).second)
      out.invalid({}, ranges[i],
                  "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
                  "2001:db8::/96");
  }
}

void check_update(field_errors& out, const ServiceCIDR& now, const ServiceCIDR& was) {
  const auto step = out.at.field("spec");
  const auto& ranges = now.spec().cidrs();
  const auto& before = was.spec().cidrs();
  // A second address family may be added later (KEP-1880).
  for (int i = 0; i < before.size(); ++i) {
    if (i < ranges.size() && ranges[i] == before[i]) continue;
    const auto inner = out.at.item("cidrs", i);
    out.invalid({}, i < ranges.size() ? ranges[i] : "", "field is immutable");
  }
}

void check(field_errors& out, const IPAddress& object) {
  {
    const auto step = out.at.field("metadata");
    const auto& name = object.metadata().name();
    const auto canonical = canonical_ip(name);
    if (canonical && *canonical != name)
      out.invalid("name", name, "must be in canonical form (\"" + *canonical + "\")");
  }
  const auto step = out.at.field("spec");
  const auto inner = out.at.field("parentRef");
  const auto& parent = object.spec().parent_ref();
  if (!parent.group().empty())
    out.each("group", parent.group(), check_dns_subdomain(parent.group()));
  for (const auto& [field, value] :
       {std::pair{"resource", &parent.resource()}, std::pair{"name", &parent.name()}})
    out.each(field, *value, check_path_segment(*value));
  if (!parent.namespace_().empty())
    out.each("namespace", parent.namespace_(), check_path_segment(parent.namespace_()));
}

}  // namespace troupe::api::validation
