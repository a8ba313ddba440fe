#include "actors/scheduler/configuration/plugin_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "actors/scheduler/configuration/upstream_plugins.hpp"
#include "config/nearest.hpp"

namespace troupe::actors::scheduler {

namespace {

using api::files::kubescheduler::Plugin;
using api::files::kubescheduler::Plugins;
using api::files::kubescheduler::PluginSet;

constexpr const char* all_defaults = "*";

struct point_set {
  std::uint32_t point;
  const PluginSet& set;
};

std::vector<point_set> sets_by_point(const Plugins& sets) {
  return {{at_pre_enqueue, sets.pre_enqueue()},
          {at_queue_sort, sets.queue_sort()},
          {at_pre_filter, sets.pre_filter()},
          {at_filter, sets.filter()},
          {at_post_filter, sets.post_filter()},
          {at_pre_score, sets.pre_score()},
          {at_score, sets.score()},
          {at_reserve, sets.reserve()},
          {at_permit, sets.permit()},
          {at_pre_bind, sets.pre_bind()},
          {at_bind, sets.bind()},
          {at_post_bind, sets.post_bind()}};
}

bool names(const google::protobuf::RepeatedPtrField<Plugin>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const auto& p) { return p.name() == name; });
}

// Upstream's default; a weight of 0 means unset.
std::int64_t weight_of(const Plugin& plugin) {
  if (plugin.weight() > 0) return plugin.weight();
  return (points_of(plugin.name()) & at_score) != 0 ? 1 : 0;
}

plugin_choice choice_of(const Plugin& plugin, std::uint32_t points) {
  return {plugin.name(), weight_of(plugin), points};
}

void check_set(const PluginSet& set, std::uint32_t point, const std::string& path,
               problems& found) {
  std::set<std::string> seen;
  for (int i = 0; i < set.enabled_size(); ++i) {
    const auto& name = set.enabled(i).name();
    const auto place = fmt::format("{}.enabled[{}].name", path, i);
    if (const auto complaint = find_plugin_problem(name, true); !complaint.empty()) {
      found.push_back(fmt::format("{}: {}", place, complaint));
    } else if (point != at_all_points && (points_of(name) & point) == 0) {
      found.push_back(
          fmt::format("{}: plugin {} has no extension point {}", place, name, name_of(point)));
    } else if (!seen.insert(name).second) {
      found.push_back(fmt::format("{}: plugin {} is listed twice", place, name));
    }
  }
  for (int i = 0; i < set.disabled_size(); ++i) {
    const auto& name = set.disabled(i).name();
    if (name == all_defaults) continue;
    if (const auto complaint = find_plugin_problem(name, false); !complaint.empty())
      found.push_back(fmt::format("{}.disabled[{}].name: {}", path, i, complaint));
  }
}

// Applies multiPoint to the defaults: a plugin that is listed again keeps its place (kubernetes:
// mergePluginSet).
std::vector<plugin_choice> merge_defaults(const PluginSet& set) {
  std::vector<plugin_choice> result;
  std::set<std::string> replaced;
  auto defaults = built_in_profile("today")->plugins;
  defaults.push_back({std::string{default_binder}, 0});
  for (auto& each : defaults) {
    if (names(set.disabled(), all_defaults) || names(set.disabled(), each.name)) continue;
    each.points = points_of(each.name);
    for (const auto& custom : set.enabled())
      if (custom.name() == each.name) {
        each.weight = weight_of(custom);
        replaced.insert(each.name);
      }
    result.push_back(std::move(each));
  }
  for (const auto& custom : set.enabled())
    if (!replaced.contains(custom.name()))
      result.push_back(choice_of(custom, points_of(custom.name())));
  return result;
}

// A plugin uses its results of the first point at the second.
void check_pair(const std::string& name, std::uint32_t has, std::uint32_t first,
                std::uint32_t second, std::string_view path, problems& found) {
  const bool depends = (points_of(name) & (first | second)) == (first | second);
  if (depends && (has & second) != 0 && (has & first) == 0)
    found.push_back(fmt::format(
        "{}: plugin {} is enabled at {} but disabled at {}, whose results it needs: enable both or "
        "disable both",
        path, name, name_of(second), name_of(first)));
}

void check_whole(const std::vector<plugin_choice>& choices, std::string_view path,
                 problems& found) {
  std::map<std::string, std::uint32_t> points;
  for (const auto& each : choices)
    points[each.name] |= each.points;
  std::size_t orders = 0;
  for (const auto& [name, has] : points) {
    check_pair(name, has, at_pre_filter, at_filter, path, found);
    check_pair(name, has, at_pre_score, at_score, path, found);
    if ((has & at_queue_sort) != 0) ++orders;
  }
  if (orders != 1)
    found.push_back(
        fmt::format("{}.queueSort: exactly one plugin must be on, not {}", path, orders));
  const auto binder = points.find(std::string{default_binder});
  if (binder == points.end() || (binder->second & at_bind) == 0)
    found.push_back(
        fmt::format("{}.bind: {} cannot be off: it binds the pods that no other plugin does", path,
                    default_binder));
}

}  // namespace

std::string find_plugin_problem(const std::string& plugin, bool enabled) {
  if (is_available(plugin)) return {};
  if (points_of(plugin) == 0)
    return fmt::format("there is no plugin \"{}\"{}", plugin,
                       config::suggestion(plugin, plugin_names()));
  return enabled ? fmt::format("plugin {} of upstream is not part of this program", plugin) : "";
}

std::vector<plugin_choice> choose_plugins(const Plugins& sets, std::string_view path,
                                          problems& found) {
  const auto before = found.size();
  const auto by_point = sets_by_point(sets);
  check_set(sets.multi_point(), at_all_points, fmt::format("{}.multiPoint", path), found);
  for (const auto& [point, set] : by_point)
    check_set(set, point, fmt::format("{}.{}", path, name_of(point)), found);
  if (found.size() > before) return {};

  auto general = merge_defaults(sets.multi_point());
  std::vector<plugin_choice> first, last;
  for (const auto& [point, set] : by_point) {
    std::set<std::string> overridden;
    const bool none = names(set.disabled(), all_defaults);
    for (auto& each : general) {
      if ((each.points & point) == 0) continue;
      const bool named = names(set.enabled(), each.name);
      const bool off = none || names(set.disabled(), each.name);
      if (named && !off) overridden.insert(each.name);
      if (named || off) each.points &= ~point;
    }
    for (const auto& each : set.enabled())
      (overridden.contains(each.name()) ? first : last).push_back(choice_of(each, point));
  }
  std::vector<plugin_choice> all;
  for (auto* part : {&first, &general, &last})
    for (auto& each : *part)
      if (each.points != 0) all.push_back(std::move(each));
  check_whole(all, path, found);
  std::erase_if(all, [](const auto& each) { return each.name == default_binder; });
  return all;
}

}  // namespace troupe::actors::scheduler
