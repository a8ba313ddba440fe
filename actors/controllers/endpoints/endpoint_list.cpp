#include "actors/controllers/endpoints/endpoint_list.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace troupe::actors::endpoints {
namespace {

using api::core::v1::EndpointAddress;
using api::core::v1::EndpointPort;
using api::core::v1::Endpoints;
using api::core::v1::Pod;
using api::core::v1::Service;

struct ports_less {
  bool operator()(const std::vector<EndpointPort>& a, const std::vector<EndpointPort>& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), port_less{});
  }
};
struct found_addresses {
  std::vector<EndpointAddress> ready, not_ready;
};

EndpointAddress entry_of(const Service& service, const Pod& pod, std::string ip) {
  EndpointAddress address;
  address.set_ip(std::move(ip));
  if (!pod.spec().node_name().empty()) address.set_node_name(pod.spec().node_name());
  if (auto name = hostname_behind(service, pod); !name.empty())
    address.set_hostname(std::move(name));
  *address.mutable_target_ref() = reference_to(pod);
  return address;
}

// Writes at most `left` addresses and decrements `left`.
void write_addresses(std::vector<EndpointAddress>& found, std::size_t& left,
                     google::protobuf::RepeatedPtrField<EndpointAddress>& to) {
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.ip(), a.target_ref().uid()) < std::tie(b.ip(), b.target_ref().uid());
  });
  for (std::size_t i = 0; i < found.size() && left > 0; ++i, --left)
    *to.Add() = std::move(found[i]);
}

}  // namespace

std::unique_ptr<Endpoints> endpoints_of(const Service& service,
                                        const std::vector<api::object_ptr>& pods) {
  const auto family = families_of(service).front();
  const bool publishes_all = service.spec().publish_not_ready_addresses();
  std::map<std::vector<EndpointPort>, found_addresses, ports_less> found;
  std::size_t total = 0;
  for (const auto& object : pods) {
    const auto& pod = object->as<Pod>();
    if (!has_address(pod) || (pod.metadata().has_deletion_timestamp() && !publishes_all)) continue;
    auto ports = ports_of(service, pod);
    if (ports.empty() && !service.spec().ports().empty()) continue;
    // Those of the Service's first family alone.
    auto ip = address_of(pod, family);
    if (ip.empty()) continue;
    auto& of = found[std::move(ports)];
    (publishes_all || is_ready(pod) ? of.ready : of.not_ready)
        .push_back(entry_of(service, pod, std::move(ip)));
    ++total;
  }
  auto made = std::make_unique<Endpoints>();
  auto& meta = *made->mutable_metadata();
  meta.set_name(service.metadata().name());
  meta.set_namespace_(service.metadata().namespace_());
  *meta.mutable_labels() = labels_of(service);
  if (total > most_addresses) (*meta.mutable_annotations())[over_capacity] = "truncated";
  auto left = most_addresses;
  for (auto& [ports, addresses] : found) {
    if (left == 0) break;
    auto& subset = *made->add_subsets();
    write_addresses(addresses.ready, left, *subset.mutable_addresses());
    write_addresses(addresses.not_ready, left, *subset.mutable_not_ready_addresses());
    for (const auto& port : ports)
      *subset.add_ports() = port;
  }
  return made;
}

}  // namespace troupe::actors::endpoints
