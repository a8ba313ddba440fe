#include "api/discovery/served_groups.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/version_order.hpp"

namespace troupe::api {
namespace {

// The priorities by which clients choose among groups with a resource of the same name (kubernetes
// 1.33: pkg/controlplane/apiserver/aggregator.go, apiVersionPriorities; the last one is from
// metrics-server's manifest).
constexpr std::pair<std::string_view, std::int32_t> priorities[] = {
    {"", 18'000},
    {"apiregistration.k8s.io", 18'000},
    {"apps", 17'800},
    {"events.k8s.io", 17'750},
    {"authentication.k8s.io", 17'700},
    {"authorization.k8s.io", 17'600},
    {"autoscaling", 17'500},
    {"batch", 17'400},
    {"certificates.k8s.io", 17'300},
    {"networking.k8s.io", 17'200},
    {"policy", 17'100},
    {"rbac.authorization.k8s.io", 17'000},
    {"storage.k8s.io", 16'800},
    {"admissionregistration.k8s.io", 16'700},
    {"apiextensions.k8s.io", 16'700},
    {"scheduling.k8s.io", 16'600},
    {"coordination.k8s.io", 16'500},
    {"node.k8s.io", 16'300},
    {"discovery.k8s.io", 16'200},
    {"resource.k8s.io", 16'200},
    {"flowcontrol.apiserver.k8s.io", 16'100},
    {"metrics.k8s.io", 100}};
// The versions of built-in groups that differ from this.
constexpr std::int32_t stable_version = 15;
constexpr std::tuple<std::string_view, std::string_view, std::int32_t> version_priorities[] = {
    {"", "v1", 1}, {"autoscaling", "v2", 30}, {"flowcontrol.apiserver.k8s.io", "v1", 21}};
// kubernetes: crdregistration_controller.go.
constexpr version_priority custom_priority{.group = 1'000, .version = 100};

template <class T, class Name>
auto& entry_of(std::vector<T>& all, std::string_view name, Name T::*member) {
  const auto found = std::ranges::find(all, name, member);
  if (found != all.end()) return *found;
  auto& made = all.emplace_back();
  made.*member = name;
  return made;
}

// kubernetes: apiregistration/v1/helper, SortedByGroupAndVersion.
void sort_by_priority(served_groups& all) {
  for (auto& group : all)
    std::ranges::stable_sort(group.versions, [](const auto& a, const auto& b) {
      if (a.priority != b.priority) return a.priority > b.priority;
      return version_before{}(a.version, b.version);
    });
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.name < b.name;
  });
}

}  // namespace

version_priority priority_of(std::string_view group, std::string_view version) {
  const auto found =
      std::ranges::find(priorities, group, [](const auto& each) { return each.first; });
  if (found == std::end(priorities)) return custom_priority;
  for (const auto& [of, name, priority] : version_priorities)
    if (of == group && name == version) return {found->second, priority};
  return {found->second, stable_version};
}

served_groups groups_of(const kind_table& kinds, const foreign_versions& foreign) {
  served_groups found;
  for (const auto& each : foreign) {
    auto& group = entry_of(found, each.group, &served_group::name);
    group.priority = std::max(group.priority, each.group_priority);
    auto& version = entry_of(group.versions, each.version, &served_version::version);
    version.priority = each.version_priority;
    version.foreign = &each;
  }
  for (const auto* kind : kinds.all()) {
    if (kind->plural().empty()) continue;
    auto& group = entry_of(found, kind->group(), &served_group::name);
    auto& version = entry_of(group.versions, kind->version(), &served_version::version);
    if (version.foreign != nullptr) continue;
    const auto priority = priority_of(group.name, version.version);
    version.priority = priority.version;
    group.priority = std::max(group.priority, priority.group);
    version.kinds.push_back(kind);
  }
  sort_by_priority(found);
  return found;
}

}  // namespace troupe::api
