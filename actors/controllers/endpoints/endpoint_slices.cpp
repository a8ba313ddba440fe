#include "actors/controllers/endpoints/endpoint_slices.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "actors/controllers/endpoints/service_pods.hpp"
#include "actors/controllers/endpoints/slice_identity.hpp"
#include "actors/core/labels.hpp"
#include "api/equality.hpp"

namespace troupe::actors::endpoints {
namespace {

using api::core::v1::Pod;
using api::core::v1::Service;
using api::discovery::v1::Endpoint;
using api::discovery::v1::EndpointPort;
using api::discovery::v1::EndpointSlice;

constexpr const char* manager = "endpointslice-controller.k8s.io";

// Other controllers make slices with the Service as their owner, too (k8s.io/endpointslice).
bool is_ours(const api::object& slice) {
  return label_of(slice, "endpointslice.kubernetes.io/managed-by") == manager;
}

using wanted_endpoints = std::map<std::string, Endpoint>;  // by uid of the pod
using wanted_groups = std::map<port_key, wanted_endpoints>;

// kubernetes: PreferSameZone is the name of PreferClose from 1.34 on.
bool prefers_own_zone(const Service& service) {
  const auto& wish = service.spec().traffic_distribution();
  return wish == "PreferClose" || wish == "PreferSameZone";
}

Endpoint endpoint_of(const Service& service, const Pod& pod, std::string address,
                     const zone_of_node& zone_of) {
  const bool serves = is_ready(pod);
  const bool ends = pod.metadata().has_deletion_timestamp();
  Endpoint made;
  made.add_addresses(std::move(address));
  auto& conditions = *made.mutable_conditions();
  conditions.set_ready(service.spec().publish_not_ready_addresses() || (serves && !ends));
  conditions.set_serving(serves);
  conditions.set_terminating(ends);
  if (!pod.spec().node_name().empty()) made.set_node_name(pod.spec().node_name());
  if (const auto zone = zone_of ? zone_of(made.node_name()) : std::string{}; !zone.empty()) {
    made.set_zone(zone);
    if (conditions.ready() && prefers_own_zone(service) && !wants_topology_hints(service))
      made.mutable_hints()->add_for_zones()->set_name(zone);
  }
  if (auto name = hostname_behind(service, pod); !name.empty()) made.set_hostname(std::move(name));
  *made.mutable_target_ref() = reference_to(pod);
  return made;
}

wanted_groups wanted_of(const Service& service, const std::string& family,
                        const std::vector<api::object_ptr>& pods, const zone_of_node& zone_of) {
  wanted_groups out;
  for (const auto& object : pods) {
    const auto& pod = object->as<Pod>();
    if (!has_address(pod)) continue;
    const auto ports = ports_of(service, pod);
    if (ports.empty() && !service.spec().ports().empty()) continue;
    if (auto address = address_of(pod, family); !address.empty())
      out[key_of(ports)].emplace(pod.metadata().uid(),
                                 endpoint_of(service, pod, std::move(address), zone_of));
  }
  return out;
}

void write_head(const Service& service, const std::string& family, const port_key& ports,
                EndpointSlice& slice) {
  auto& labels = *slice.mutable_metadata()->mutable_labels();
  labels = labels_of(service);
  set_owner_labels(labels, service.metadata().name(), manager);
  slice.set_address_type(family);
  set_ports(slice, ports);
}

// The planned content of a slice; `before` is null for a new one.
struct draft {
  api::object_ptr before;
  std::unique_ptr<EndpointSlice> after;
};

using drafts = std::map<port_key, std::vector<draft>>;

// Keeps and updates the endpoints of the slice that are still wanted; removes them from `left`.
void keep_wanted(EndpointSlice& slice, wanted_endpoints& left) {
  google::protobuf::RepeatedPtrField<Endpoint> kept;
  for (const auto& each : slice.endpoints()) {
    const auto found = left.find(each.target_ref().uid());
    if (found == left.end()) continue;
    *kept.Add() = std::move(found->second);
    left.erase(found);
  }
  slice.mutable_endpoints()->Swap(&kept);
}

std::unique_ptr<EndpointSlice> new_slice(const Service& service, const std::string& family,
                                         const port_key& ports) {
  auto made = std::make_unique<EndpointSlice>();
  made->mutable_metadata()->set_generate_name(service.metadata().name() + "-");
  made->mutable_metadata()->set_namespace_(service.metadata().namespace_());
  write_head(service, family, ports, *made);
  return made;
}

void add_new(const Service& service, const std::string& family, const port_key& ports,
             std::vector<draft>& slices, wanted_endpoints& left) {
  std::stable_sort(slices.begin(), slices.end(), [](const draft& a, const draft& b) {
    return a.after->endpoints_size() > b.after->endpoints_size();
  });
  std::size_t next = 0;
  for (auto& [uid, endpoint] : left) {
    while (next < slices.size() && slices[next].after->endpoints_size() >= most_endpoints)
      ++next;
    if (next == slices.size()) slices.push_back({nullptr, new_slice(service, family, ports)});
    *slices[next].after->add_endpoints() = std::move(endpoint);
  }
}

std::string hint_all(drafts& slices, const std::vector<api::object_ptr>& present,
                     const zone_cpu& zones) {
  known_hints before;
  for (const auto& object : present)
    for (const auto& each : object->as<EndpointSlice>().endpoints())
      if (!each.hints().for_zones().empty())
        before[each.target_ref().uid()] = each.hints().for_zones(0).name();
  std::vector<Endpoint*> all;
  for (auto& [ports, group] : slices)
    for (auto& each : group)
      for (auto& endpoint : *each.after->mutable_endpoints())
        all.push_back(&endpoint);
  return set_topology_hints(all, zones, before);
}

// `present`: slices of that family.
void plan_family(slice_plan& plan, const Service& service, const std::string& family,
                 const std::vector<api::object_ptr>& pods,
                 const std::vector<api::object_ptr>& present, const zone_of_node& zone_of,
                 const zone_cpu& zones) {
  auto wanted = wanted_of(service, family, pods, zone_of);
  const bool nobody = wanted.empty();
  if (nobody) wanted[{}];
  drafts slices;
  for (const auto& object : present) {
    const auto key = key_of(object->as<EndpointSlice>().ports());
    const auto group = wanted.find(key);
    if (group == wanted.end() || object->meta().has_deletion_timestamp()) {
      plan.remove.push_back(object);
      continue;
    }
    auto after = object->copy_as<EndpointSlice>();
    keep_wanted(*after, group->second);
    write_head(service, family, key, *after);
    slices[key].push_back({object, std::move(after)});
  }
  for (auto& [ports, left] : wanted)
    add_new(service, family, ports, slices[ports], left);
  if (wants_topology_hints(service)) plan.no_hints[family] = hint_all(slices, present, zones);
  for (auto& [ports, group] : slices) {
    if (nobody && group.empty()) group.push_back({nullptr, new_slice(service, family, ports)});
    for (auto& each : group) {
      const bool first = &each == &group.front();
      if (!each.before)
        plan.create.push_back(std::move(each.after));
      else if (each.after->endpoints().empty() && !(nobody && first))
        plan.remove.push_back(each.before);
      else if (!api::same_meaning(*each.after, each.before->content()))
        plan.update.emplace_back(each.before, std::move(each.after));
    }
  }
}

}  // namespace

slice_plan plan_slices(const Service& service, const std::vector<api::object_ptr>& pods,
                       const std::vector<api::object_ptr>& present, const zone_of_node& zone_of,
                       const zone_cpu& zones) {
  const auto families = families_of(service);
  std::map<std::string, std::vector<api::object_ptr>> by_family;
  slice_plan plan;
  for (const auto& object : present) {
    if (!is_ours(*object)) continue;
    const auto& family = object->as<EndpointSlice>().address_type();
    if (std::count(families.begin(), families.end(), family) > 0)
      by_family[family].push_back(object);
    else
      plan.remove.push_back(object);
  }
  for (const auto& family : families)
    plan_family(plan, service, family, pods, by_family[family], zone_of, zones);
  return plan;
}

}  // namespace troupe::actors::endpoints
