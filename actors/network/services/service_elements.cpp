#include "actors/network/services/service_elements.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "actors/network/defaults.hpp"
#include "actors/network/reserved_addresses.hpp"
#include "actors/network/services/sticky_chains.hpp"
#include "api/schema/core_service.pb.h"

namespace troupe::actors::services {
namespace {

using api::core::v1::Service;
using api::core::v1::ServicePort;

sticky_port sticky_port_of(const Service& service, const std::string& address,
                           const ServicePort& port) {
  const auto& config = service.spec().session_affinity_config().client_ip();
  return {.address = address,
          .protocol = protocol_of(port.protocol()),
          .port = port.port(),
          .timeout_s = config.has_timeout_seconds() ? config.timeout_seconds()
                                                    : network_defaults::affinity_timeout_s};
}

struct port_elements {
  const Service& service;
  const std::string& cluster_address;
  const address_family& family;
  const ServicePort& port;
  const chosen_endpoints chosen;
  elements& out;

  bool is_local() const { return service.spec().external_traffic_policy() == "Local"; }

  void add_slots(const std::string& map, const std::string& key, const endpoint_addresses& to) {
    std::size_t slot = 0;
    for (const auto& each : to) {
      out[{map, fmt::format("{} . {}", key, slot++)}] =
          fmt::format("{} . {}", each.address, each.port);
      out[{"hairpin", fmt::format("{} . {}", each.address, each.address)}] = {};
    }
  }

  // The verdict for these endpoints: the shared chain of `kind` for their number, or with session
  // affinity a chain of this port.
  std::string chain_for(const std::string& kind, bool outside, const endpoint_addresses& to) {
    if (service.spec().session_affinity() != "ClientIP")
      return fmt::format("goto {}-{}", kind, to.size());
    const auto use = !outside     ? sticky_use::inside
                     : is_local() ? sticky_use::local_only
                                  : sticky_use::masqueraded;
    return "goto " +
           add_sticky_chain(out, sticky_port_of(service, cluster_address, port), family, use, to);
  }

  // kubernetes: a service without any endpoint refuses connections; one without endpoints usable on
  // this node drops them, so that a load balancer chooses another node.
  const char* without_endpoints() const { return chosen.any ? "drop" : "goto refuse"; }

  void add_address(const std::string& address, bool outside) {
    const auto& to = outside ? chosen.external : chosen.internal;
    const auto key =
        fmt::format("{} . {} . {}", address, protocol_of(port.protocol()), port.port());
    if (to.empty()) {
      out[{"refused", key}] = without_endpoints();
      return;
    }
    out[{"service-ports", key}] =
        chain_for(outside && !is_local() ? "outer-pick" : "pick", outside, to);
    add_slots("endpoints", key, to);
  }

  void add_node_port() {
    if (port.node_port() == 0) return;
    const auto key = fmt::format("{} . {}", protocol_of(port.protocol()), port.node_port());
    if (chosen.external.empty()) {
      out[{"node-refused", key}] = without_endpoints();
      return;
    }
    out[{"node-ports", key}] =
        chain_for(is_local() ? "node-local" : "node-pick", true, chosen.external);
    add_slots("node-endpoints", key, chosen.external);
  }
};

// Whether only a cluster IP may have the address.
bool is_cluster_address(const std::string& address, const address_family& family,
                        const std::optional<api::cidr>& cluster_range) {
  if (!reserved_for(address, {}).empty()) return true;
  const auto one = api::cidr::parse(fmt::format("{}/{}", address, family.bits));
  return cluster_range && one && cluster_range->contains(*one);
}

// Load balancer and external addresses that this node may serve: an address limited to some source
// ranges is not served at all, rather than to everyone.
std::vector<std::string> outer_addresses(const Service& service, const address_family& family,
                                         const std::optional<api::cidr>& cluster_range) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& address) {
    auto text = family.text_of(address);
    if (text.empty() || is_cluster_address(text, family, cluster_range)) return;
    out.push_back(std::move(text));
  };
  for (const auto& address : service.spec().external_ips())
    add(address);
  if (!service.spec().load_balancer_source_ranges().empty()) return out;
  for (const auto& each : service.status().load_balancer().ingress())
    if (each.ip_mode() != "Proxy") add(each.ip());
  return out;
}

// The cluster IP of that family; empty: none.
std::string cluster_address_of(const Service& service, const address_family& family) {
  auto address = family.text_of(service.spec().cluster_ip());
  for (const auto& each : service.spec().cluster_ips())
    if (address.empty()) address = family.text_of(each);
  return address;
}

}  // namespace

bool is_own(const element_key& key) {
  return key.collection == own_set || key.collection == own_chain;
}

elements elements_of(const api::object& service, const std::vector<api::object_ptr>& slices,
                     const node_place& node, const address_family& family,
                     const std::optional<api::cidr>& cluster_range) {
  const auto& body = service.as<Service>();
  elements out;
  const auto address = cluster_address_of(body, family);
  if (body.spec().type() == "ExternalName" || address.empty()) return out;
  // Admission refuses a reserved address, but an older store may have a Service with it.
  const bool has_cluster_address = reserved_for(address, service.meta()).empty();
  if (has_cluster_address) out[{"cluster-ips", address}] = {};
  for (const auto& port : body.spec().ports()) {
    port_elements add{
        body, address, family, port, choose_endpoints(body, port, slices, node, family), out};
    if (has_cluster_address) add.add_address(address, false);
    for (const auto& outer : outer_addresses(body, family, cluster_range))
      add.add_address(outer, true);
    add.add_node_port();
  }
  return out;
}

std::pair<std::string, std::size_t> numbered_chain(const std::string& data) {
  constexpr std::string_view before = "goto ";
  const auto dash = data.rfind('-');
  std::size_t number = 0;
  if (!data.starts_with(before) || dash == data.npos) return {{}, 0};
  const auto* end = data.data() + data.size();
  if (std::from_chars(data.data() + dash + 1, end, number).ptr != end) return {{}, 0};
  return {data.substr(before.size(), dash - before.size()), number};
}

}  // namespace troupe::actors::services
