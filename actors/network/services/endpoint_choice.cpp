#include "actors/network/services/endpoint_choice.hpp"

#include <algorithm>
#include <cctype>
#include <functional>

#include "actors/network/defaults.hpp"
#include "api/schema/discovery_v1.pb.h"

namespace troupe::actors::services {
namespace {

using api::core::v1::Service;
using api::core::v1::ServicePort;
using api::discovery::v1::Endpoint;
using api::discovery::v1::EndpointSlice;

struct candidate {
  endpoint_address at;
  const Endpoint* endpoint = nullptr;
};
using candidates = std::vector<candidate>;

candidates candidates_of(const ServicePort& port, const std::vector<api::object_ptr>& slices,
                         const address_family& family) {
  candidates out;
  for (const auto& object : slices) {
    const auto& slice = object->as<EndpointSlice>();
    if (slice.address_type() != family.name) continue;
    for (const auto& each : slice.ports()) {
      if (each.name() != port.name() || each.protocol() != port.protocol() || each.port() == 0)
        continue;
      for (const auto& endpoint : slice.endpoints())
        // Other text would be inserted into nft scripts.
        if (!endpoint.addresses().empty())
          if (auto address = family.text_of(endpoint.addresses(0)); !address.empty())
            out.push_back({{std::move(address), each.port()}, &endpoint});
    }
  }
  return out;
}

bool is_ready(const Endpoint& endpoint) {
  return !endpoint.conditions().has_ready() || endpoint.conditions().ready();
}

bool serves_while_it_ends(const Endpoint& endpoint) {
  const auto& conditions = endpoint.conditions();
  return conditions.terminating() && (!conditions.has_serving() || conditions.serving());
}

bool is_for_zone(const Endpoint& endpoint, const std::string& zone) {
  const auto& zones = endpoint.hints().for_zones();
  return std::any_of(zones.begin(), zones.end(), [&](const auto& z) { return z.name() == zone; });
}

candidates only(const candidates& of, const std::function<bool(const Endpoint&)>& wanted) {
  candidates out;
  std::copy_if(of.begin(), of.end(), std::back_inserter(out),
               [&](const candidate& each) { return wanted(*each.endpoint); });
  return out;
}

candidates usable(const candidates& of) {
  auto ready = only(of, is_ready);
  return ready.empty() ? only(of, serves_while_it_ends) : ready;
}

candidates of_zone(const candidates& all, const std::string& zone) {
  const auto ready = only(all, is_ready);
  const bool hinted = std::all_of(ready.begin(), ready.end(), [](const candidate& each) {
    return !each.endpoint->hints().for_zones().empty();
  });
  if (zone.empty() || !hinted) return usable(all);
  auto out = only(ready, [&](const Endpoint& each) { return is_for_zone(each, zone); });
  return out.empty() ? usable(all) : out;
}

endpoint_addresses addresses_of(const candidates& of) {
  endpoint_addresses out;
  for (const auto& each : of)
    out.push_back(each.at);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (out.size() > network_defaults::most_endpoints) out.resize(network_defaults::most_endpoints);
  return out;
}

}  // namespace

std::string protocol_of(const std::string& protocol) {
  std::string text = protocol.empty() ? "tcp" : protocol;
  for (auto& c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

chosen_endpoints choose_endpoints(const Service& service, const ServicePort& port,
                                  const std::vector<api::object_ptr>& slices,
                                  const node_place& node, const address_family& family) {
  const auto all = candidates_of(port, slices, family);
  const auto here =
      usable(only(all, [&](const Endpoint& each) { return each.node_name() == node.name; }));
  const auto everywhere = of_zone(all, node.zone);
  chosen_endpoints out;
  out.any = !everywhere.empty();
  out.internal =
      addresses_of(service.spec().internal_traffic_policy() == "Local" ? here : everywhere);
  out.external =
      addresses_of(service.spec().external_traffic_policy() == "Local" ? here : everywhere);
  return out;
}

}  // namespace troupe::actors::services
