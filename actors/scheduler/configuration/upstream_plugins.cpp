#include "actors/scheduler/configuration/upstream_plugins.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "actors/scheduler/profile.hpp"
#include "actors/scheduler/registry.hpp"

namespace troupe::actors::scheduler {

namespace {

constexpr std::uint32_t filters = at_pre_filter | at_filter, scores = at_pre_score | at_score;

// kubernetes 1.33: pkg/scheduler/framework/plugins.
const std::map<std::string, std::uint32_t, std::less<>>& of_upstream() {
  static const std::map<std::string, std::uint32_t, std::less<>> all{
      {"SchedulingGates", at_pre_enqueue},
      {"PrioritySort", at_queue_sort},
      {"NodeUnschedulable", at_filter},
      {"NodeName", at_filter},
      {"TaintToleration", at_filter | scores},
      {"NodeAffinity", filters | scores},
      {"NodePorts", filters},
      {"NodeResourcesFit", filters | scores},
      {"VolumeRestrictions", filters},
      {"NodeVolumeLimits", filters},
      {"VolumeBinding", filters | at_reserve | at_pre_bind | scores},
      {"VolumeZone", filters},
      {"PodTopologySpread", filters | scores},
      {"InterPodAffinity", filters | scores},
      {"DefaultPreemption", at_post_filter},
      {"NodeResourcesBalancedAllocation", scores},
      {"ImageLocality", at_score},
      {"DynamicResources", at_pre_enqueue | filters | at_post_filter | at_reserve | at_pre_bind},
      {std::string{default_binder}, at_bind},
  };
  return all;
}

template <class Interface>
std::uint32_t bit(plugin& made, extension_point point) {
  return dynamic_cast<Interface*>(&made) != nullptr ? std::uint32_t{point} : 0;
}

std::uint32_t points_of(plugin& made) {
  return bit<pre_enqueue_plugin>(made, at_pre_enqueue) |
         bit<queue_sort_plugin>(made, at_queue_sort) | bit<pre_filter_plugin>(made, at_pre_filter) |
         bit<filter_plugin>(made, at_filter) | bit<post_filter_plugin>(made, at_post_filter) |
         bit<pre_score_plugin>(made, at_pre_score) | bit<score_plugin>(made, at_score) |
         bit<reserve_plugin>(made, at_reserve) | bit<pre_bind_plugin>(made, at_pre_bind) |
         bit<bind_plugin>(made, at_bind);
}

}  // namespace

std::uint32_t points_of(const std::string& plugin) {
  if (const auto known = of_upstream().find(plugin); known != of_upstream().end())
    return known->second;
  const auto ours = known_plugins().find(plugin);
  return ours == known_plugins().end() ? 0 : points_of(*ours->second());
}

bool is_available(const std::string& plugin) {
  return plugin == default_binder || known_plugins().contains(plugin);
}

std::vector<std::string> plugin_names() {
  std::vector<std::string> names;
  for (const auto& [name, points] : of_upstream())
    names.push_back(name);
  for (const auto& [name, factory] : known_plugins())
    if (!of_upstream().contains(name)) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string_view name_of(std::uint32_t point) {
  static constexpr std::array<std::pair<std::uint32_t, std::string_view>, 12> names{
      {{at_pre_enqueue, "preEnqueue"},
       {at_queue_sort, "queueSort"},
       {at_pre_filter, "preFilter"},
       {at_filter, "filter"},
       {at_post_filter, "postFilter"},
       {at_pre_score, "preScore"},
       {at_score, "score"},
       {at_reserve, "reserve"},
       {at_permit, "permit"},
       {at_pre_bind, "preBind"},
       {at_bind, "bind"},
       {at_post_bind, "postBind"}}};
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const auto& each) { return each.first == point; });
  return found == names.end() ? "multiPoint" : found->second;
}

}  // namespace troupe::actors::scheduler
