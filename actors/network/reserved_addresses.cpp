#include "actors/network/reserved_addresses.hpp"

#include "actors/defaults.hpp"
#include "actors/network/defaults.hpp"

namespace troupe::actors {

std::string_view reserved_for(const std::string& address,
                              const api::meta::v1::ObjectMeta& service) {
  if (address == network_defaults::dns_address) return "every node serves DNS there, no Service";
  const bool is_api = service.namespace_() == "default" && service.name() == "kubernetes";
  if (address == defaults::api_service_address && !is_api)
    return "the Service default/kubernetes has it";
  return {};
}

}  // namespace troupe::actors
