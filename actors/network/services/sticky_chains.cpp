#include "actors/network/services/sticky_chains.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/network/defaults.hpp"

namespace troupe::actors::services {
namespace {

// The address as part of a name, in which nft accepts no colon.
std::string name_of(std::string address) {
  std::replace(address.begin(), address.end(), ':', '-');
  return address;
}

const char* prefix_of(sticky_use use) {
  switch (use) {
    case sticky_use::inside:
      return "sticky";
    case sticky_use::local_only:
      return "sticky-local";
    default:
      return "sticky-outer";
  }
}

// The rules of an endpoint's chain. If the set is full, the client still reaches the endpoint.
std::string remembering_rules(const sticky_port& port, const address_family& family,
                              const std::string& clients, const endpoint_address& endpoint) {
  const bool v6 = &family == &family_v6;
  return fmt::format(
      "update @{} {{ {} saddr timeout {}s }}\n"
      "meta l4proto {} dnat to {}{}{}:{}",
      clients, family.word, port.timeout_s, port.protocol, v6 ? "[" : "", endpoint.address,
      v6 ? "]" : "", endpoint.port);
}

}  // namespace

std::string add_sticky_chain(elements& out, const sticky_port& port, const address_family& family,
                             sticky_use use, const endpoint_addresses& to) {
  const auto of_port = fmt::format("{}/{}/{}", name_of(port.address), port.protocol, port.port);
  std::string rules, choices;
  if (use == sticky_use::masqueraded)
    rules = fmt::format("meta mark set meta mark or {:#x}\n", network_defaults::masquerade_mark);
  std::size_t number = 0;
  for (const auto& each : to) {
    const auto name = fmt::format("{}/{}/{}", of_port, name_of(each.address), each.port);
    const auto clients = "clients/" + name, chain = "to/" + name;
    out[{own_set, clients}] = {};
    out[{own_chain, chain}] = remembering_rules(port, family, clients, each);
    rules += fmt::format("{} saddr @{} goto {}\n", family.word, clients, chain);
    choices += fmt::format("{}{} : goto {}", number == 0 ? "" : ", ", number, chain);
    ++number;
  }
  const auto chain = fmt::format("{}/{}", prefix_of(use), of_port);
  out[{own_chain, chain}] =
      fmt::format("{}numgen random mod {} vmap {{ {} }}", rules, number, choices);
  return chain;
}

}  // namespace troupe::actors::services
