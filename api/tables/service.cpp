// Services and endpoints in a table.
#include <array>

#include "api/schema/core_service.pb.h"
#include "api/tables/row_cells.hpp"

namespace troupe::api {
namespace {

using namespace core::v1;

// With more addresses, a table shows the number of the others (upstream:
// formatEndpoints).
constexpr int shown_addresses = 3;

template <class List>
std::string joined(const List& list) {
  std::string text;
  for (const auto& one : list) {
    if (!text.empty()) text += ',';
    text += one;
  }
  return text;
}

std::string outside(const Service& service) {
  const auto& spec = service.spec();
  if (spec.type() == "ExternalName") return spec.external_name();
  std::vector<std::string> all(spec.external_ips().begin(), spec.external_ips().end());
  if (spec.type() == "LoadBalancer") {
    for (const auto& point : service.status().load_balancer().ingress())
      all.push_back(point.ip().empty() ? point.hostname() : point.ip());
    if (all.empty()) return "<pending>";
  }
  return joined(all);
}

std::string ports(const ServiceSpec& spec) {
  std::string text;
  for (const auto& port : spec.ports()) {
    if (!text.empty()) text += ',';
    text += std::to_string(port.port());
    if (port.node_port() != 0) text += ":" + std::to_string(port.node_port());
    text += "/" + port.protocol();
  }
  return text;
}

constexpr std::array<table_column, 7> of_services = {
    table_column{"Name", "string", "Name of the service, unique within its namespace."},
    table_column{"Type", "string", "From where the service is reached."},
    table_column{"Cluster-IP", "string", "Address inside the cluster."},
    table_column{"External-IP", "string", "Addresses outside of it."},
    table_column{"Port(s)", "string", "Ports, with those of the nodes."},
    table_column{"Age", "string", "Time since the service was created."},
    table_column{"Selector", "string", "Labels of the pods behind it.", 1}};

constexpr std::array<table_column, 3> of_endpoints = {
    table_column{"Name", "string", "Name of the endpoints, that of their service."},
    table_column{"Endpoints", "string", "Addresses and ports."},
    table_column{"Age", "string", "Time since they were created."}};

}  // namespace

const std::span<const table_column> service_columns = of_services;
const std::span<const table_column> endpoints_columns = of_endpoints;

void service_cells(row_cells& into, const body& content) {
  const auto& service = static_cast<const Service&>(content);
  const auto& spec = service.spec();
  into.text(service.metadata().name())
      .text(spec.type())
      .text_or(spec.cluster_ips().empty() ? spec.cluster_ip() : spec.cluster_ips(0), none_text)
      .text_or(outside(service), none_text)
      .text_or(ports(spec), none_text)
      .age(service.metadata())
      .text(shown_labels(spec.selector()));
}

void endpoints_cells(row_cells& into, const body& content) {
  const auto& endpoints = static_cast<const Endpoints&>(content);
  std::string text;
  int count = 0;
  const auto add = [&](const std::string& one) {
    if (count++ >= shown_addresses) return;
    if (!text.empty()) text += ',';
    text += one;
  };
  for (const auto& subset : endpoints.subsets()) {
    for (const auto& port : subset.ports())
      for (const auto& address : subset.addresses())
        add(address.ip() + ":" + std::to_string(port.port()));
    if (!subset.ports().empty()) continue;
    for (const auto& address : subset.addresses())
      add(address.ip());
  }
  if (count > shown_addresses) text += " + " + std::to_string(count - shown_addresses) + " more...";
  into.text(endpoints.metadata().name()).text_or(text, none_text).age(endpoints.metadata());
}

}  // namespace troupe::api
