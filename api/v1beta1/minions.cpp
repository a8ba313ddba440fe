// Minions, bindings and endpoints.
#include <limits>

#include "api/conversion/conversion.hpp"
#include "api/schema/core_binding.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/v1beta1/conversion.hpp"
#include "api/v1beta1/v1beta1.hpp"
#include "api/values/integer.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api::v1beta1 {
namespace {

constexpr const char* minion_address = "InternalIP";

// -- minions --------------------------------------------------------------------------------------

// 2014 counted CPU in thousandths, everything else in units.
std::int64_t amount_of(const std::string& resource, const quantity& from) {
  return resource == "cpu" ? from.milli_value() : from.value();
}

void to_node(const Minion& from, core::v1::Node& to) {
  to_meta(from.meta(), *to.mutable_metadata());
  to_labels(from.labels(), *to.mutable_metadata()->mutable_labels());
  for (const auto& [resource, amount] : from.resources().capacity()) {
    const auto text = amount.type() == 1 ? amount.str_val() : std::to_string(amount.int_val());
    auto parsed = quantity::parse(text).value_or(quantity());
    if (resource == "cpu") parsed = quantity::of_milli(parsed.value());
    (*to.mutable_status()->mutable_capacity())[resource].set_string(parsed.str());
  }
  if (from.host_ip().empty()) return;
  auto& address = *to.mutable_status()->add_addresses();
  address.set_type(minion_address);
  address.set_address(from.host_ip());
}

void from_node(const core::v1::Node& from, Minion& to) {
  from_meta(from.metadata(), *to.mutable_meta());
  *to.mutable_labels() = from.metadata().labels();
  for (const auto& [resource, amount] : from.status().capacity()) {
    const auto parsed = quantity::parse(amount.string()).value_or(quantity());
    const auto number = amount_of(resource, parsed);
    auto& out = (*to.mutable_resources()->mutable_capacity())[resource];
    if (number >= std::numeric_limits<std::int32_t>::min() &&
        number <= std::numeric_limits<std::int32_t>::max()) {
      if (number != 0) out.set_int_val(static_cast<std::int32_t>(number));
    } else {
      out.set_type(1);
      out.set_str_val(std::to_string(number));
    }
  }
  for (const auto& each : from.status().addresses())
    if (each.type() == minion_address && to.host_ip().empty() && !each.address().empty())
      to.set_host_ip(each.address());
}

// -- bindings -------------------------------------------------------------------------------------

void to_binding(const Binding& from, core::v1::Binding& to) {
  to_meta(from.meta(), *to.mutable_metadata());
  to.mutable_metadata()->clear_name();
  if (!from.pod_id().empty()) to.mutable_metadata()->set_name(name_of(from.pod_id()));
  auto& target = *to.mutable_target();
  target.set_kind("Node");
  if (!from.host().empty()) target.set_name(from.host());
}

void from_binding(const core::v1::Binding& from, Binding& to) {
  from_meta(from.metadata(), *to.mutable_meta());
  to.mutable_meta()->clear_id();
  if (!from.metadata().name().empty()) to.set_pod_id(from.metadata().name());
  if (!from.target().name().empty()) to.set_host(from.target().name());
}

// -- endpoints ------------------------------------------------------------------------------------

// Splits "10.0.0.1:80", "[::1]:80". Without a port the whole text is kept: validation reports it.
std::pair<std::string, std::int32_t> parts_of(const std::string& endpoint) {
  const auto colon = endpoint.rfind(':');
  std::int32_t port = 0;
  if (colon != std::string::npos)
    port = parse_integer<std::int32_t>(std::string_view(endpoint).substr(colon + 1)).value_or(0);
  if (port == 0) return {endpoint, 0};
  std::string address = endpoint.substr(0, colon);
  if (address.size() > 1 && address.front() == '[' && address.back() == ']')
    address = address.substr(1, address.size() - 2);
  return {address, port};
}

std::string endpoint_of(const std::string& address, std::int32_t port) {
  const bool wide = address.find(':') != std::string::npos;
  return (wide ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

// Adjacent endpoints with the same port form one subset, so that the order is kept.
void to_endpoints(const Endpoints& from, core::v1::Endpoints& to) {
  to_meta(from.meta(), *to.mutable_metadata());
  for (const auto& each : from.endpoints()) {
    const auto [address, port] = parts_of(each);
    const int last = to.subsets_size() - 1;
    auto* subset =
        last >= 0 && to.subsets(last).ports(0).port() == port ? to.mutable_subsets(last) : nullptr;
    if (subset == nullptr) {
      subset = to.add_subsets();
      subset->add_ports()->set_port(port);
    }
    subset->add_addresses()->set_ip(address);
  }
}

void from_endpoints(const core::v1::Endpoints& from, Endpoints& to) {
  from_meta(from.metadata(), *to.mutable_meta());
  for (const auto& subset : from.subsets())
    for (const auto& port : subset.ports())
      for (const auto& address : subset.addresses())
        to.add_endpoints(endpoint_of(address.ip(), port.port()));
}

}  // namespace

void register_minions(conversions& to) {
  to.add_kind<Minion, core::v1::Node>();
  to.add_conversion(&to_node);
  to.add_conversion(&from_node);
  to.add_kind<Binding, core::v1::Binding>();
  to.add_conversion(&to_binding);
  to.add_conversion(&from_binding);
  to.add_kind<Endpoints, core::v1::Endpoints>();
  to.add_conversion(&to_endpoints);
  to.add_conversion(&from_endpoints);
}

}  // namespace troupe::api::v1beta1
