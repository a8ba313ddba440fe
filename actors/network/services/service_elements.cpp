#include "actors/network/services/service_elements.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <string_view>

#include "api/schema/core_service.pb.h"

namespace troupe::actors::services {
namespace {

using api::core::v1::Service;
using api::core::v1::ServicePort;

std::string protocol_of(const ServicePort& port) {
  std::string text = port.protocol().empty() ? "tcp" : port.protocol();
  for (auto& c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

struct port_elements {
  const Service& service;
  const ServicePort& port;
  const chosen_endpoints chosen;
  elements& out;

  bool is_sticky() const { return service.spec().session_affinity() == "ClientIP"; }
  bool is_local() const { return service.spec().external_traffic_policy() == "Local"; }

  void add_slots(const std::string& map, const std::string& key, const endpoint_addresses& to) {
    std::size_t slot = 0;
    for (const auto& each : to) {
      out[{map, fmt::format("{} . {}", key, slot++)}] =
          fmt::format("{} . {}", each.address, each.port);
      out[{"hairpin", fmt::format("{} . {}", each.address, each.address)}] = {};
    }
  }

  // kubernetes: a service without any endpoint refuses connections; one without endpoints usable on
  // this node drops them, so that a load balancer chooses another node.
  const char* without_endpoints() const { return chosen.any ? "drop" : "goto refuse"; }

  void add_address(const std::string& address, const endpoint_addresses& to,
                   const std::string& chain) {
    const auto key = fmt::format("{} . {} . {}", address, protocol_of(port), port.port());
    if (to.empty()) {
      out[{"refused", key}] = without_endpoints();
      return;
    }
    out[{"service-ports", key}] = fmt::format("goto {}-{}", chain, to.size());
    add_slots("endpoints", key, to);
  }

  void add_node_port() {
    if (port.node_port() == 0) return;
    const auto key = fmt::format("{} . {}", protocol_of(port), port.node_port());
    if (chosen.external.empty()) {
      out[{"node-refused", key}] = without_endpoints();
      return;
    }
    const auto* chain = is_local() ? "node-local" : "node-pick";
    out[{"node-ports", key}] =
        fmt::format("goto {}{}-{}", chain, is_sticky() ? "-sticky" : "", chosen.external.size());
    add_slots("node-endpoints", key, chosen.external);
  }
};

// Load balancer and external addresses that this node may serve: an address limited to some source
// ranges is not served at all, rather than to everyone.
std::vector<std::string> outer_addresses(const Service& service) {
  std::vector<std::string> out;
  for (const auto& address : service.spec().external_ips())
    if (is_v4(address)) out.push_back(address);
  if (!service.spec().load_balancer_source_ranges().empty()) return out;
  for (const auto& each : service.status().load_balancer().ingress())
    if (is_v4(each.ip()) && each.ip_mode() != "Proxy") out.push_back(each.ip());
  return out;
}

}  // namespace

elements elements_of(const api::object& service, const std::vector<api::object_ptr>& slices,
                     const node_place& node) {
  const auto& body = service.as<Service>();
  elements out;
  const auto& address = body.spec().cluster_ip();
  if (body.spec().type() == "ExternalName" || !is_v4(address)) return out;
  out[{"cluster-ips", address}] = {};
  for (const auto& port : body.spec().ports()) {
    port_elements add{body, port, choose_endpoints(body, port, slices, node), out};
    add.add_address(address, add.chosen.internal, add.is_sticky() ? "sticky" : "pick");
    for (const auto& outer : outer_addresses(body))
      add.add_address(
          outer, add.chosen.external,
          fmt::format("{}{}", add.is_local() ? "" : "outer-", add.is_sticky() ? "sticky" : "pick"));
    add.add_node_port();
  }
  return out;
}

std::pair<std::string, std::size_t> numbered_chain(const std::string& data) {
  constexpr std::string_view before = "goto ";
  const auto dash = data.rfind('-');
  std::size_t number = 0;
  if (!data.starts_with(before) || dash == data.npos) return {{}, 0};
  std::from_chars(data.data() + dash + 1, data.data() + data.size(), number);
  return {data.substr(before.size(), dash - before.size()), number};
}

}  // namespace troupe::actors::services
