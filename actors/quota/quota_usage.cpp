#include "actors/quota/quota_usage.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "actors/core/pod_health.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::quota {
namespace {

using api::quantity;
using api::resource_list;
using api::core::v1::ConfigMap;
using api::core::v1::Container;
using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;
using api::core::v1::ResourceQuota;
using api::core::v1::ResourceQuotaSpec;
using api::core::v1::ScopedResourceSelectorRequirement;
using api::core::v1::Secret;
using api::core::v1::Service;

const quantity one = quantity::of(1);

template <class T>
const T& as(const api::body& object) {
  return static_cast<const T&>(object);
}

// -- usage ----------------------------------------------------------------------------------------

// Requests have two names: "cpu" and "requests.cpu". Extended resources have only the second.
void add_requests(const resource_list& requests, resource_list& into) {
  for (const auto& [name, amount] : requests) {
    into["requests." + name] = amount;
    if (name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
        name.starts_with("hugepages-"))
      into[name] = amount;
  }
}

void add_limits(const resource_list& limits, resource_list& into) {
  for (const auto* name : {"cpu", "memory", "ephemeral-storage"})
    if (const auto found = limits.find(name); found != limits.end())
      into[std::string{"limits."} + name] = found->second;
}

void add_pod(const Pod& pod, bool overdue, resource_list& into) {
  if (overdue || is_terminated(pod)) return;
  into["pods"] = one;
  add_requests(api::held_requests(pod), into);
  add_limits(api::held_limits(pod), into);
}

void add_service(const Service& service, resource_list& into) {
  const auto& spec = service.spec();
  into["services"] = one;
  const bool balanced = spec.type() == "LoadBalancer";
  if (balanced) into["services.loadbalancers"] = one;
  if (!balanced && spec.type() != "NodePort") return;
  // A load balancer that does not need node ports counts only those it has.
  const bool all = !balanced || !spec.has_allocate_load_balancer_node_ports() ||
                   spec.allocate_load_balancer_node_ports();
  const auto ports = std::count_if(spec.ports().begin(), spec.ports().end(),
                                   [&](const auto& port) { return all || port.node_port() != 0; });
  into["services.nodeports"] = quantity::of(ports);
}

void add_claim(const PersistentVolumeClaim& claim, resource_list& into) {
  into["persistentvolumeclaims"] = one;
  auto requests = api::read_resource_list(claim.spec().resources().requests());
  const auto& storage_class = claim.spec().storage_class_name();
  const auto of_class = storage_class + ".storageclass.storage.k8s.io/";
  if (!storage_class.empty()) into[of_class + "persistentvolumeclaims"] = one;
  const auto storage = requests.find("storage");
  if (storage == requests.end()) return;
  into["requests.storage"] = storage->second;
  if (!storage_class.empty()) into[of_class + "requests.storage"] = storage->second;
}

// Kinds whose objects quotas count only by the resource name.
bool counts_by_plural(const api::kind_info& kind) {
  return &kind == &api::kind_of<ConfigMap>() || &kind == &api::kind_of<Secret>() ||
         &kind == &api::kind_of<ReplicationController>() || &kind == &api::kind_of<ResourceQuota>();
}

// -- scopes ---------------------------------------------------------------------------------------

bool names_resources(const Container& container) {
  const auto names = [](const auto& amounts) {
    return std::any_of(amounts.begin(), amounts.end(), [](const auto& entry) {
      if (entry.first != "cpu" && entry.first != "memory") return false;
      const auto amount = quantity::parse(entry.second.string());
      return amount && amount->sign() > 0;
    });
  };
  return names(container.resources().requests()) || names(container.resources().limits());
}

bool is_best_effort(const Pod& pod) {
  const auto none = [](const auto& containers) {
    return std::none_of(containers.begin(), containers.end(), names_resources);
  };
  return none(pod.spec().containers()) && none(pod.spec().init_containers());
}

bool looks_into_other_namespaces(const Pod& pod) {
  const auto any = [](const auto& affinity) {
    const auto looks = [](const auto& term) {
      return !term.namespaces().empty() || term.has_namespace_selector();
    };
    const auto& required = affinity.required_during_scheduling_ignored_during_execution();
    const auto& preferred = affinity.preferred_during_scheduling_ignored_during_execution();
    return std::any_of(required.begin(), required.end(), looks) ||
           std::any_of(preferred.begin(), preferred.end(),
                       [&](const auto& each) { return looks(each.pod_affinity_term()); });
  };
  const auto& affinity = pod.spec().affinity();
  return any(affinity.pod_affinity()) || any(affinity.pod_anti_affinity());
}

bool is_chosen(const ScopedResourceSelectorRequirement& by, const std::string& value) {
  const auto& op = by.operator_();
  if (op == "Exists") return !value.empty();
  if (op == "DoesNotExist") return value.empty();
  const bool among = std::find(by.values().begin(), by.values().end(), value) != by.values().end();
  return op == "In" ? among : !among;
}

bool has_deadline(const Pod& pod) {
  return pod.spec().has_active_deadline_seconds() && pod.spec().active_deadline_seconds() >= 0;
}

bool is_in_scope(const ScopedResourceSelectorRequirement& scope, const Pod& pod) {
  const auto& name = scope.scope_name();
  if (name == "Terminating") return has_deadline(pod);
  if (name == "NotTerminating") return !has_deadline(pod);
  if (name == "BestEffort") return is_best_effort(pod);
  if (name == "NotBestEffort") return !is_best_effort(pod);
  if (name == "PriorityClass") return is_chosen(scope, pod.spec().priority_class_name());
  return name == "CrossNamespacePodAffinity" && looks_into_other_namespaces(pod);
}

bool is_in_scope(const ScopedResourceSelectorRequirement& scope, const api::kind_info& kind,
                 const api::body& object) {
  if (&kind == &api::kind_of<Pod>()) return is_in_scope(scope, as<Pod>(object));
  return &kind == &api::kind_of<PersistentVolumeClaim>() &&
         scope.scope_name() == "VolumeAttributesClass" &&
         is_chosen(scope, as<PersistentVolumeClaim>(object).spec().volume_attributes_class_name());
}

}  // namespace

api::resource_list usage_of(const api::kind_info& kind, const api::body& object, bool overdue) {
  resource_list result;
  result["count/" + kind.qualified_plural()] = one;
  if (&kind == &api::kind_of<Pod>())
    add_pod(as<Pod>(object), overdue, result);
  else if (&kind == &api::kind_of<Service>())
    add_service(as<Service>(object), result);
  else if (&kind == &api::kind_of<PersistentVolumeClaim>())
    add_claim(as<PersistentVolumeClaim>(object), result);
  else if (counts_by_plural(kind))
    result[kind.plural()] = one;
  return result;
}

std::optional<std::int64_t> overdue_after(const api::object& object) {
  const auto& meta = object.meta();
  if (&object.kind() != &api::kind_of<Pod>() || !meta.has_deletion_timestamp() ||
      !meta.has_deletion_grace_period_seconds())
    return std::nullopt;
  std::int64_t until = 0;
  if (__builtin_add_overflow(meta.deletion_timestamp().seconds(),
                             meta.deletion_grace_period_seconds(), &until))
    return std::nullopt;
  return until;
}

bool may_count(const ResourceQuotaSpec& quota, const api::kind_info& kind) {
  return std::any_of(quota.hard().begin(), quota.hard().end(), [&](const auto& entry) {
    const std::string_view name = entry.first;
    if (name.starts_with("count/")) return name.substr(6) == kind.qualified_plural();
    if (&kind == &api::kind_of<Service>()) return name.starts_with("services");
    if (&kind == &api::kind_of<PersistentVolumeClaim>())
      return name == "persistentvolumeclaims" || name == "requests.storage" ||
             name.find(".storageclass.storage.k8s.io/") != name.npos;
    // Any other name is a resource of pods.
    return &kind == &api::kind_of<Pod>() || (counts_by_plural(kind) && name == kind.plural());
  });
}

bool is_in_scopes(const ResourceQuotaSpec& quota, const api::kind_info& kind,
                  const api::body& object) {
  const auto in_named = [&](const std::string& name) {
    ScopedResourceSelectorRequirement scope;
    scope.set_scope_name(name);
    scope.set_operator_("Exists");
    return is_in_scope(scope, kind, object);
  };
  const auto& chosen = quota.scope_selector().match_expressions();
  return std::all_of(quota.scopes().begin(), quota.scopes().end(), in_named) &&
         std::all_of(chosen.begin(), chosen.end(),
                     [&](const auto& scope) { return is_in_scope(scope, kind, object); });
}

api::resource_list charge(const ResourceQuotaSpec& quota, const api::kind_info& kind,
                          const api::body& object, bool overdue) {
  if (!is_in_scopes(quota, kind, object)) return {};
  auto usage = usage_of(kind, object, overdue);
  std::erase_if(usage, [&](const auto& entry) { return !quota.hard().contains(entry.first); });
  return usage;
}

std::string unnamed_resources(const ResourceQuotaSpec& quota, const Pod& pod) {
  if (!is_in_scopes(quota, api::kind_of<Pod>(), pod)) return {};
  static constexpr std::array required = {"cpu",    "limits.cpu",   "limits.memory",
                                          "memory", "requests.cpu", "requests.memory"};
  std::map<std::string, std::set<std::string>> containers;  // by resource
  const auto look = [&](const Container& container) {
    resource_list named;
    add_requests(api::read_resource_list(container.resources().requests()), named);
    add_limits(api::read_resource_list(container.resources().limits()), named);
    for (const auto* name : required)
      if (quota.hard().contains(name) && !named.contains(name))
        containers[name].insert(container.name());
  };
  std::for_each(pod.spec().containers().begin(), pod.spec().containers().end(), look);
  std::for_each(pod.spec().init_containers().begin(), pod.spec().init_containers().end(), look);
  if (containers.empty()) return {};
  std::vector<std::string> texts;
  for (const auto& [name, of] : containers)
    texts.push_back(fmt::format("{} for: {}", name, fmt::join(of, ",")));
  return fmt::format("must specify {}", fmt::join(texts, "; "));
}

}  // namespace troupe::actors::quota
