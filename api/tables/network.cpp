// Columns and cells of ingresses, network policies, endpoint slices and addresses.
#include <array>
#include <set>

#include "api/schema/discovery_v1.pb.h"
#include "api/schema/networking_policy.pb.h"
#include "api/schema/networking_v1.pb.h"
#include "api/tables/kind_cells.hpp"

namespace troupe::api {
namespace {

using discovery::v1::EndpointSlice;
using namespace networking::v1;

constexpr int most_shown = 3;  // upstream: listWithMoreString

constexpr std::array of_slices = {
    name_column, table_column{"AddressType", "string", "Of which kind the addresses are."},
    table_column{"Ports", "string", "The ports."},
    table_column{"Endpoints", "string", "The addresses."}, age_column};

void write_slice(row_cells& into, const body& content) {
  const auto& object = as<EndpointSlice>(content);
  short_list ports(most_shown), addresses(most_shown);
  for (const auto& port : object.ports())
    ports.add(port.has_port()       ? std::to_string(port.port())
              : port.name().empty() ? "*"
                                    : port.name());
  for (const auto& endpoint : object.endpoints())
    for (const auto& address : endpoint.addresses())
      addresses.add(address);
  into.text(object.metadata().name())
      .text(object.address_type())
      .text(ports.text(unset))
      .text(addresses.text(unset))
      .age(object.metadata());
}

constexpr std::array of_ingresses = {
    name_column,
    table_column{"Class", "string", "The class, which names the controller."},
    table_column{"Hosts", "string", "The hosts that it leads to services."},
    table_column{"Address", "string", "Where its load balancer is reached."},
    table_column{"Ports", "string", "Ports that are open."},
    age_column};

std::string hosts_of(const Ingress& object) {
  short_list hosts(most_shown);
  for (const auto& rule : object.spec().rules())
    if (!rule.host().empty()) hosts.add(rule.host());
  return hosts.text("*");
}

std::string addresses_of(const Ingress& object) {
  std::set<std::string> addresses;
  for (const auto& point : object.status().load_balancer().ingress())
    addresses.insert(point.ip().empty() ? point.hostname() : point.ip());
  std::string text;
  for (const auto& address : addresses)
    if (!address.empty()) text += (text.empty() ? "" : ",") + address;
  return text;
}

void write_ingress(row_cells& into, const body& content) {
  const auto& object = as<Ingress>(content);
  into.text(object.metadata().name())
      .text_or(object.spec().ingress_class_name(), none_text)
      .text(hosts_of(object))
      .text(addresses_of(object))
      .text(object.spec().tls().empty() ? "80" : "80, 443")
      .age(object.metadata());
}

constexpr std::array of_ingress_classes = {
    name_column, table_column{"Controller", "string", "Who takes care of the class."},
    table_column{"Parameters", "string", "An object with parameters for the controller."},
    age_column};

void write_ingress_class(row_cells& into, const body& content) {
  const auto& object = as<IngressClass>(content);
  std::string parameters(none_text);
  if (object.spec().has_parameters()) {
    const auto& of = object.spec().parameters();
    parameters = of.kind();
    if (!of.api_group().empty()) parameters += "." + of.api_group();
    parameters += "/" + of.name();
  }
  into.text(object.metadata().name())
      .text(object.spec().controller())
      .text(parameters)
      .age(object.metadata());
}

constexpr std::array of_network_policies = {
    name_column, table_column{"Pod-Selector", "string", "The pods that are guarded."}, age_column};

void write_network_policy(row_cells& into, const body& content) {
  const auto& object = as<NetworkPolicy>(content);
  into.text(object.metadata().name())
      .text(shown_selector(object.spec().pod_selector()))
      .age(object.metadata());
}

constexpr std::array of_service_ranges = {
    name_column, table_column{"CIDRs", "string", "The ranges."}, age_column};

void write_service_range(row_cells& into, const body& content) {
  const auto& object = as<ServiceCIDR>(content);
  std::string ranges;
  for (const auto& range : object.spec().cidrs())
    ranges += (ranges.empty() ? "" : ",") + range;
  into.text(object.metadata().name()).text(ranges).age(object.metadata());
}

constexpr std::array of_addresses = {
    name_column, table_column{"ParentRef", "string", "The object that uses it."}, age_column};

void write_address(row_cells& into, const body& content) {
  const auto& object = as<IPAddress>(content);
  const auto& parent = object.spec().parent_ref();
  std::string user = parent.resource();
  if (!parent.group().empty()) user += "." + parent.group();
  if (!parent.namespace_().empty()) user += "/" + parent.namespace_();
  user += "/" + parent.name();
  into.text(object.metadata().name()).text(user).age(object.metadata());
}

}  // namespace

const kind_cells slice_cells = {of_slices, &write_slice};
const kind_cells ingress_cells = {of_ingresses, &write_ingress};
const kind_cells ingress_class_cells = {of_ingress_classes, &write_ingress_class};
const kind_cells network_policy_cells = {of_network_policies, &write_network_policy};
const kind_cells service_range_cells = {of_service_ranges, &write_service_range};
const kind_cells address_cells = {of_addresses, &write_address};

}  // namespace troupe::api
