#include "actors/scheduler/algorithm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "actors/scheduler/framework/defaults.hpp"

namespace troupe::actors::scheduler {

namespace {

// The number of feasible nodes that is enough (kubernetes: numFeasibleNodesToFind): all of a small
// cluster, `percent` of a large one, or a percentage that decreases with its size.
std::size_t enough_nodes(std::size_t nodes, std::size_t percent) {
  if (nodes < defaults::min_feasible_nodes) return nodes;
  const auto shrunk = nodes / 125 > 50 ? 0 : 50 - nodes / 125;
  if (percent == 0) percent = std::max(shrunk, defaults::min_feasible_percent);
  return std::max(nodes * percent / 100, defaults::min_feasible_nodes);
}

// The data of thousands of nodes exceeds the CPU caches: fields for filters and scores are
// prefetched while earlier nodes are evaluated.
constexpr std::size_t nodes_ahead = 8;

void prefetch(const node_info* node) {
  constexpr std::size_t line_bytes = 64;
  for (std::size_t offset = 0; offset < node_info::hot_bytes; offset += line_bytes)
    __builtin_prefetch(reinterpret_cast<const char*>(node) + offset);
}

// "3 Insufficient cpu, 2 node(s) had …", sorted by text like upstream.
std::string join_reasons(const std::vector<status>& refused) {
  std::map<std::string, std::size_t> counts;
  for (const auto& s : refused) {
    if (s.ok()) continue;
    std::istringstream each{s.reason};
    for (std::string line; std::getline(each, line);)
      ++counts[line];
  }
  std::vector<std::string> lines;
  for (const auto& [reason, count] : counts)
    lines.push_back(fmt::format("{} {}", count, reason));
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ", "));
}

// The nodes that required node affinity names, as for a daemon pod; nothing if it also admits
// others (kubernetes: NodeAffinity's PreFilterResult).
std::optional<std::vector<std::string>> named_nodes(const pod_info& pod) {
  if (!pod.has_required_nodes) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& term : pod.required_nodes) {
    if (term.never) continue;
    const auto named = std::find_if(term.names.begin(), term.names.end(),
                                    [](const auto& each) { return each.second; });
    if (named == term.names.end()) return std::nullopt;
    if (std::find(names.begin(), names.end(), named->first) == names.end())
      names.push_back(named->first);
  }
  return names;
}

bool has_node_affinity(const profile& profile) {
  const auto& filters = profile.filters();
  return std::any_of(filters.begin(), filters.end(),
                     [](const auto& each) { return each.as_plugin->name() == "NodeAffinity"; });
}

}  // namespace

tl::expected<std::string, fit_error> algorithm::schedule(const pod_info_ptr& pod,
                                                         const cluster_view& view,
                                                         std::mt19937_64& random) {
  refusing_.clear();
  const auto total = view.nodes().size();
  if (total == 0)
    return tl::make_unexpected(fit_error{.message = "no nodes available to schedule pods",
                                         .helped_by = node_added,
                                         .make_room = {}});
  cycle notes{profile_.size()};
  if (const auto prepared = prepare(notes, *pod, view); !prepared.ok())
    return tl::make_unexpected(
        explain(pod, view, std::vector<status>(total, prepared), prepared.reason));

  // Reused for the next pod: clearing thousands of entries would cost more than the evaluation.
  refused_.resize(total);
  const auto nodes = feasible(notes, *pod, view);
  if (nodes.empty()) return tl::make_unexpected(explain(pod, view, std::exchange(refused_, {})));
  return best(notes, *pod, view, nodes, random);
}

status algorithm::prepare(cycle& notes, const pod_info& pod, const cluster_view& view) {
  active_.clear();
  for (const auto& each : profile_.filters()) {
    if (each.prepare != nullptr) {
      auto result = each.prepare->pre_filter(notes, pod, view);
      if (result.code == status_code::skip) continue;
      if (!result.ok()) {
        refusing_.push_back(each.as_plugin);
        return result;
      }
    }
    if (each.plugin != nullptr) active_.push_back(&each);
  }
  return {};
}

bool algorithm::fits(const cycle& notes, const pod_info& pod, const node_info& node,
                     status& refused, const plugin*& refusing) const {
  for (const auto* each : active_) {
    if (auto result = each->plugin->filter(notes, pod, node); !result.ok()) {
      refused = std::move(result);
      refusing = each->as_plugin;
      return false;
    }
  }
  return true;
}

status algorithm::run_pre_filters(cycle& notes, const pod_info& pod,
                                  const cluster_view& view) const {
  return algorithm{*this}.prepare(notes, pod, view);
}

status algorithm::run_filters(const cycle& notes, const pod_info& pod,
                              const node_info& node) const {
  status refused;
  const plugin* refusing = nullptr;
  fits(notes, pod, node, refused, refusing);
  return refused;
}

void algorithm::adjust(const cycle& notes, const pod_info& pod, const cluster_view& view,
                       const pod_info& other, const node_info& node, int by) const {
  for (const auto* each : active_)
    if (each->prepare != nullptr) each->prepare->adjust(notes, pod, view, other, node, by);
}

std::vector<const node_info*> algorithm::feasible(const cycle& notes, const pod_info& pod,
                                                  const cluster_view& view) {
  const auto& nodes = view.nodes();
  if (const auto named = named_nodes(pod); named && has_node_affinity(profile_)) {
    // Otherwise each of thousands of daemon pods would evaluate thousands of nodes.
    std::vector<const node_info*> found;
    std::map<const node_info*, status> refused;
    for (const auto& name : *named) {
      const auto* node = view.find(name);
      if (node == nullptr) continue;
      status reason;
      const plugin* refusing = nullptr;
      if (fits(notes, pod, *node, reason, refusing)) {
        found.push_back(node);
        continue;
      }
      refused.emplace(node, std::move(reason));
      refusing_.push_back(refusing);
    }
    for (std::size_t i = 0; found.empty() && i < nodes.size(); ++i) {
      const auto looked_at = refused.find(nodes[i]);
      refused_[i] = looked_at != refused.end()
                        ? looked_at->second
                        : status{status_code::unresolvable,
                                 "node(s) didn't satisfy plugin(s) [NodeAffinity]"};
    }
    return found;
  }
  const auto percent = static_cast<std::size_t>(profile_.options().percent_of_nodes);
  const auto enough = enough_nodes(nodes.size(), percent);
  std::vector<const node_info*> found;
  found.reserve(enough);
  const auto next = [&](std::size_t at) { return at + 1 == nodes.size() ? 0 : at + 1; };
  auto at = next_start_ % nodes.size();
  auto ahead = (at + nodes_ahead) % nodes.size();
  std::size_t looked_at = 0;
  for (; looked_at < nodes.size() && found.size() < enough; ++looked_at) {
    prefetch(nodes[ahead]);
    const plugin* refusing = nullptr;
    if (fits(notes, pod, *nodes[at], refused_[at], refusing)) {
      found.push_back(nodes[at]);
    } else {
      if (std::find(refusing_.begin(), refusing_.end(), refusing) == refusing_.end())
        refusing_.push_back(refusing);
    }
    at = next(at);
    ahead = next(ahead);
  }
  next_start_ = at;
  return found;
}

std::string algorithm::best(cycle& notes, const pod_info& pod, const cluster_view& view,
                            const std::vector<const node_info*>& nodes, std::mt19937_64& random) {
  if (nodes.size() == 1) return nodes.front()->name();
  std::vector<std::int64_t> totals(nodes.size()), scores(nodes.size());
  for (const auto& each : profile_.scores()) {
    if (each.prepare != nullptr &&
        each.prepare->pre_score(notes, pod, view, nodes).code == status_code::skip)
      continue;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      scores[i] = each.plugin->score(notes, pod, *nodes[i]);
    each.plugin->normalize(notes, scores);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      totals[i] += each.weight * scores[i];
  }
  // Reservoir sampling among the best: all equally likely, in one pass.
  std::size_t chosen = 0, equals = 1;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (totals[i] > totals[chosen]) {
      chosen = i;
      equals = 1;
    } else if (totals[i] == totals[chosen] && profile_.options().random_among_best) {
      if (random() % ++equals == 0) chosen = i;
    }
  }
  return nodes[chosen]->name();
}

fit_error algorithm::explain(const pod_info_ptr& pod, const cluster_view& view,
                             std::vector<status> refused, const std::string& by_all) {
  const auto total = view.nodes().size();
  fit_error result;
  result.message = fmt::format("0/{} nodes are available: {}.", total,
                               by_all.empty() ? join_reasons(refused) : by_all);
  result.helped_by = node_added | pod_updated;
  for (const auto* refusing : refusing_)
    result.helped_by |= refusing->helped_by();
  for (const auto* each : profile_.post_filters()) {
    result.make_room = each->post_filter(*this, pod, view, refused);
    if (!result.make_room.node.empty()) return result;
  }
  if (profile_.post_filters().empty()) return result;
  if (!result.make_room.message.empty()) {
    result.message += " preemption: " + result.make_room.message;
    return result;
  }
  for (auto& s : refused)
    s.reason = s.code == status_code::unresolvable ? "Preemption is not helpful for scheduling"
                                                   : "No preemption victims found for incoming pod";
  result.message +=
      fmt::format(" preemption: 0/{} nodes are available: {}.", total, join_reasons(refused));
  return result;
}

}  // namespace troupe::actors::scheduler
