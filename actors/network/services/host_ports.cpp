#include "actors/network/services/host_ports.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/core/pod_health.hpp"

namespace troupe::actors::services {
namespace {

using api::core::v1::ContainerPort;
using api::core::v1::Pod;

// Those that the scheduler counts: of containers and sidecars.
std::vector<const ContainerPort*> host_ports_of(const Pod& pod) {
  std::vector<const ContainerPort*> out;
  const auto collect = [&](const api::core::v1::Container& container) {
    for (const auto& port : container.ports())
      if (port.host_port() != 0) out.push_back(&port);
  };
  for (const auto& container : pod.spec().containers())
    collect(container);
  for (const auto& container : pod.spec().init_containers())
    if (container.restart_policy() == "Always") collect(container);
  return out;
}

// The pod's port is one endpoint, chosen by the chains for one endpoint that keep the address of
// the client: all connections come by the pod's node.
void add_port(elements& out, const ContainerPort& port, const std::string& address,
              const address_family& family) {
  const auto number = fmt::format("{} . {}", protocol_of(port.protocol()), port.host_port());
  const auto endpoint = fmt::format("{} . {}", address, port.container_port());
  const auto host = family.text_of(port.host_ip());
  if (port.host_ip().empty() || host == family.unspecified) {
    out[{"node-ports", number}] = "goto node-local-1";
    out[{"node-endpoints", number + " . 0"}] = endpoint;
  } else if (!host.empty()) {
    const auto key = fmt::format("{} . {}", host, number);
    out[{"host-ports", key}] = "goto pick-1";
    out[{"endpoints", key + " . 0"}] = endpoint;
  }
}

}  // namespace

bool has_host_ports(const Pod& pod) {
  return !pod.spec().host_network() && !is_terminated(pod) && !host_ports_of(pod).empty();
}

std::vector<std::string> own_addresses_of(const Pod& pod) {
  const auto& status = pod.status();
  std::vector<std::string> out;
  const auto consider = [&](const std::string& address) {
    const auto is_it = [&](const auto& host) { return host.ip() == address; };
    const bool shared = address == status.host_ip() ||
                        std::any_of(status.host_ips().begin(), status.host_ips().end(), is_it);
    if (!address.empty() && !shared) out.push_back(address);
  };
  consider(status.pod_ip());
  for (const auto& each : status.pod_ips())
    consider(each.ip());
  return out;
}

elements host_port_elements(const Pod& pod, const std::vector<std::string>& addresses,
                            const address_family& family) {
  elements out;
  if (!has_host_ports(pod)) return out;
  std::string address;
  for (const auto& each : addresses)
    if (address.empty()) address = family.text_of(each);
  if (address.empty()) return out;
  for (const auto* port : host_ports_of(pod))
    add_port(out, *port, address, family);
  if (!out.empty()) out[{"hairpin", fmt::format("{0} . {0}", address)}] = {};
  return out;
}

}  // namespace troupe::actors::services
