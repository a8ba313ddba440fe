#include "actors/network/policies/policy_state.hpp"

#include <algorithm>

#include "actors/core/pod_health.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::policies {

using api::core::v1::Container;
using api::core::v1::Pod;

std::string policy_pod::name() const {
  return ns() + "/" + object->meta().name();
}

std::vector<std::uint32_t> policy_pod::ports_named(std::string_view name,
                                                   std::string_view protocol) const {
  std::vector<std::uint32_t> out;
  const auto look = [&](const Container& container) {
    for (const auto& port : container.ports())
      if (port.name() == name && (port.protocol().empty() ? "TCP" : port.protocol()) == protocol)
        out.push_back(static_cast<std::uint32_t>(port.container_port()));
  };
  const auto& spec = object->as<Pod>().spec();
  for (const auto& container : spec.containers())
    look(container);
  for (const auto& container : spec.init_containers())
    if (container.restart_policy() == "Always") look(container);
  return out;
}

std::string_view to_string(direction side) {
  return side == direction::ingress ? "ingress" : "egress";
}

std::optional<ip_number> own_address(const api::object& pod, const address_family& family) {
  const auto& body = pod.as<Pod>();
  const auto& status = body.status();
  if (body.spec().host_network() || is_terminated(body)) return std::nullopt;
  std::optional<ip_number> found;
  const auto consider = [&](const std::string& address) {
    if (!found && address != status.host_ip()) found = parse_address(address, family);
  };
  consider(status.pod_ip());
  for (const auto& each : status.pod_ips())
    consider(each.ip());
  return found;
}

bool guards(const api::networking::v1::NetworkPolicySpec& spec, direction side) {
  const auto& types = spec.policy_types();
  if (types.empty()) return side == direction::ingress || !spec.egress().empty();
  const auto wanted = side == direction::ingress ? "Ingress" : "Egress";
  return std::find(types.begin(), types.end(), wanted) != types.end();
}

api::label_selector selector_of(const api::meta::v1::LabelSelector& from) {
  auto made = api::label_selector::from(from);
  return made ? std::move(*made) : api::label_selector::nothing();
}

}  // namespace troupe::actors::policies
