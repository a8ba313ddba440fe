#include "actors/scheduler/configuration/plugin_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "actors/scheduler/configuration/configuration.hpp"
#include "actors/scheduler/configuration/plugin_sets.hpp"
#include "api/validation/validation.hpp"

namespace troupe::actors::scheduler {

namespace {

namespace file = api::files::kubescheduler;

// The input of a plugin's reader: `path` is the location of its arguments.
struct reading {
  const std::string& json;
  const std::string& path;
  plugin_arguments& out;
  problems& found;

  void complain(std::string_view field, std::string_view text) const {
    found.push_back(fmt::format("{}.{}: {}", path, field, text));
  }
};

template <class Args>
bool read(const reading& from, Args& args) {
  auto problems = read_settings_part(from.json, {configuration_version, Args::descriptor()->name()},
                                     from.path, args);
  from.found.insert(from.found.end(), problems.begin(), problems.end());
  return problems.empty();
}

// upstream's maximum score of a point is 10, that of a plugin max_score.
constexpr std::int64_t shape_scale = 10;

template <class Resources>
std::vector<weighted_resource> read_weights(const Resources& from,
                                            const std::vector<weighted_resource>& none) {
  if (from.empty()) return none;
  std::vector<weighted_resource> result;
  for (const auto& each : from)
    result.push_back({each.name(), each.weight()});
  return result;
}

void read_fit(const reading& from) {
  file::NodeResourcesFitArgs args;
  if (!read(from, args)) return;
  auto& out = from.out;
  out.ignored_resources.assign(args.ignored_resources().begin(), args.ignored_resources().end());
  out.ignored_resource_groups.assign(args.ignored_resource_groups().begin(),
                                     args.ignored_resource_groups().end());
  for (const auto& group : out.ignored_resource_groups)
    if (group.find('/') != group.npos)
      from.complain("ignoredResourceGroups",
                    fmt::format("\"{}\" must be the part of a name before its slash", group));
  const auto& strategy = args.scoring_strategy();
  out.scored_resources = read_weights(strategy.resources(), out.scored_resources);
  if (strategy.type() == "MostAllocated") out.strategy = scoring_strategy::most_allocated;
  const auto& shape = strategy.requested_to_capacity_ratio().shape();
  if (strategy.type() != "RequestedToCapacityRatio") {
    if (!shape.empty())
      from.complain("scoringStrategy.requestedToCapacityRatio",
                    "is of the type RequestedToCapacityRatio alone");
    return;
  }
  out.strategy = scoring_strategy::by_utilization;
  if (shape.empty())
    from.complain("scoringStrategy.requestedToCapacityRatio.shape", "at least one point is needed");
  for (const auto& point : shape) {
    if (!out.shape.empty() && point.utilization() <= out.shape.back().utilization)
      from.complain("scoringStrategy.requestedToCapacityRatio.shape",
                    "each utilization must be greater than the one before");
    out.shape.push_back({point.utilization(), point.score() * shape_scale});
  }
}

void read_balance(const reading& from) {
  file::NodeResourcesBalancedAllocationArgs args;
  if (!read(from, args)) return;
  for (const auto& each : args.resources())
    if (each.weight() != 1) from.complain("resources", "each weight must be 1");
  from.out.balanced_resources = read_weights(args.resources(), from.out.balanced_resources);
}

void read_pod_affinity(const reading& from) {
  file::InterPodAffinityArgs args;
  if (!read(from, args)) return;
  from.out.hard_pod_affinity_weight = args.hard_pod_affinity_weight();
  from.out.ignore_preferred_terms_of_existing_pods = args.ignore_preferred_terms_of_existing_pods();
}

void read_added_affinity(const reading& from) {
  file::NodeAffinityArgs args;
  if (!read(from, args)) return;
  for (const auto& each : api::validate_node_affinity(args.added_affinity()))
    from.complain("addedAffinity." + each.field, each.message);
  from.out.added_affinity = read_node_affinity(args.added_affinity());
}

void read_spread(const reading& from) {
  file::PodTopologySpreadArgs args;
  if (!read(from, args)) return;
  const auto& constraints = args.default_constraints();
  if (args.defaulting_type() == "System") {
    if (!constraints.empty())
      from.complain("defaultConstraints", "must be empty with the defaultingType System");
    return;
  }
  auto& out = from.out.default_constraints.emplace();
  std::set<std::pair<std::string, std::string>> seen;
  for (int i = 0; i < constraints.size(); ++i) {
    const auto& each = constraints[i];
    const auto place = fmt::format("defaultConstraints[{}]", i);
    if (each.has_label_selector() || each.match_label_keys_size() > 0)
      from.complain(place, "the selector is that of each pod's controller: none may be set");
    if (each.has_min_domains() && each.when_unsatisfiable() != "DoNotSchedule")
      from.complain(place + ".minDomains", "can only be used with DoNotSchedule");
    if (!seen.emplace(each.topology_key(), each.when_unsatisfiable()).second)
      from.complain(place, "another one has its topologyKey and whenUnsatisfiable");
    out.push_back(read_default_constraint(each));
  }
}

void read_preemption(const reading& from) {
  file::DefaultPreemptionArgs args;
  if (!read(from, args)) return;
  if (args.min_candidate_nodes_percentage() == 0 && args.min_candidate_nodes_absolute() == 0)
    from.complain("minCandidateNodesPercentage",
                  "must not be 0 where minCandidateNodesAbsolute is 0");
  from.out.min_candidates_percent = static_cast<std::size_t>(args.min_candidate_nodes_percentage());
  from.out.min_candidates = static_cast<std::size_t>(args.min_candidate_nodes_absolute());
}

void read_volume_binding(const reading& from) {
  file::VolumeBindingArgs args;
  if (!read(from, args)) return;
  from.out.volume_timeout = std::chrono::seconds{args.bind_timeout_seconds()};
  if (args.shape_size() > 0) from.complain("shape", "scores of volumes are not supported");
}

struct plugin_reader {
  std::string_view plugin;
  void (*read)(const reading&);
};

constexpr plugin_reader readers[] = {
    {"DefaultPreemption", read_preemption}, {"InterPodAffinity", read_pod_affinity},
    {"NodeAffinity", read_added_affinity},  {"NodeResourcesBalancedAllocation", read_balance},
    {"NodeResourcesFit", read_fit},         {"PodTopologySpread", read_spread},
    {"VolumeBinding", read_volume_binding}};

}  // namespace

plugin_arguments read_plugin_config(
    const google::protobuf::RepeatedPtrField<file::PluginConfig>& entries, std::string_view path,
    problems& found) {
  plugin_arguments result;
  std::set<std::string> seen;
  for (int i = 0; i < entries.size(); ++i) {
    const auto& entry = entries[i];
    const auto place = fmt::format("{}[{}]", path, i);
    const auto reader = std::find_if(std::begin(readers), std::end(readers),
                                     [&](const auto& each) { return each.plugin == entry.name(); });
    if (const auto complaint = find_plugin_problem(entry.name(), false); !complaint.empty()) {
      found.push_back(fmt::format("{}.name: {}", place, complaint));
    } else if (!seen.insert(entry.name()).second) {
      found.push_back(fmt::format("{}.name: plugin {} is listed twice", place, entry.name()));
    } else if (reader == std::end(readers)) {
      found.push_back(fmt::format("{}.args: plugin {} has no arguments", place, entry.name()));
    } else {
      const auto& json = entry.args().raw();
      reader->read({json.empty() ? "{}" : json, place + ".args", result, found});
    }
  }
  return result;
}

}  // namespace troupe::actors::scheduler
