// Spreads pods that match a selector over the domains of a topology (zones, hosts): a hard
// constraint keeps the difference to the emptiest domain within maxSkew, a soft one prefers
// emptier domains (kubernetes: podtopologyspread). Pods of a controller without constraints
// get two soft ones, over hosts and zones (podtopologyspread.systemDefaultConstraints;
// upstream counts the pods that the selectors of controller and services match, here the
// controller's own pods are counted incrementally). The configuration may replace these
// defaults.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "actors/scheduler/plugins/plugins.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors::scheduler {

namespace {

const std::string* domain_of(const node_info& node, const std::string& topology_key) {
  const auto& labels = node.labels();
  const auto found = labels.find(topology_key);
  return found == labels.end() ? nullptr : &found->second;
}

// The number of matching pods by domain for one constraint: those of its selector, or those of the
// pod's own controller for a constraint of the configuration.
struct tally {
  const spread_constraint* constraint;
  const slot_counts* siblings;
  std::unordered_map<std::string, std::int64_t> by_domain;
  std::int64_t least = 0;  // the minimum over all domains
  bool self = false;       // the pod itself matches the selector

  // The node's domain must exist.
  std::int64_t pods(const node_info& node) const {
    const auto found = by_domain.find(*domain_of(node, constraint->topology_key));
    return found == by_domain.end() ? 0 : found->second;
  }
};
using tallies = std::vector<tally>;

// A node without the label of one constraint is excluded from all of them.
bool has_domains(const node_info& node, const tallies& all) {
  return std::all_of(all.begin(), all.end(), [&](const tally& each) {
    return domain_of(node, each.constraint->topology_key) != nullptr;
  });
}

constexpr std::int32_t default_host_skew = 3, default_zone_skew = 5;

// For a pod without constraints: pods of its controller by node and zone.
struct default_spread {
  const slot_counts* by_node = nullptr;
  std::unordered_map<std::string, std::int64_t> by_zone;
  double host_weight = 0, zone_weight = 0;
};

struct spread_notes {
  tallies hard, soft;
  default_spread defaults;
};

// The weight of a constraint depends on the number of domains.
double weight_of(std::size_t domains) {
  return std::log(static_cast<double>(domains + 2));
}

// std::llround for the costs, which are not negative: its call would cost more than the rest.
std::int64_t rounded(double cost) {
  const auto whole = static_cast<std::int64_t>(cost);
  return whole + (cost - static_cast<double>(whole) >= 0.5 ? 1 : 0);
}

double cost(std::int64_t pods, std::int32_t max_skew, double weight) {
  return static_cast<double>(pods) * weight + (max_skew - 1);
}

default_spread spread_siblings(const slot_counts& siblings, const cluster_view& view,
                               const std::vector<const node_info*>& feasible) {
  default_spread result{&siblings, {}, weight_of(feasible.size()), 0};
  for (const auto* node : feasible)
    if (const auto* zone = node->zone()) result.by_zone.try_emplace(*zone, 0);
  result.zone_weight = weight_of(result.by_zone.size());
  if (!result.by_zone.empty()) view.add_by_zone(siblings, result.by_zone);
  return result;
}

// The constraints of a pod, and the pods that count for configured ones.
struct constraints {
  const std::vector<spread_constraint>& all;
  const slot_counts* siblings = nullptr;
};

tallies begin(const constraints& of, const pod_info& pod, bool hard) {
  tallies result;
  for (const auto& each : of.all)
    if (each.hard == hard)
      result.push_back({&each,
                        of.siblings,
                        {},
                        0,
                        of.siblings || each.selector.matches(pod.pod->meta().labels())});
  return result;
}

bool counts(const spread_constraint& constraint, const pod_info& pod, const node_info& node) {
  return (!constraint.honors_affinity || pod.selects(node.name(), node.labels())) &&
         (!constraint.honors_taints || untolerated_taint(pod, node) == nullptr);
}

bool counts(const tally& each, const pod_info& pod, const pod_info& other) {
  const auto& meta = other.pod->meta();
  if (meta.has_deletion_timestamp()) return false;
  if (each.siblings != nullptr) return other.controller == pod.controller;
  return meta.namespace_() == pod.pod->meta().namespace_() &&
         each.constraint->selector.matches(meta.labels());
}

std::int64_t count(const tally& each, const pod_info& pod, const node_info& node) {
  if (each.siblings != nullptr) return each.siblings->at(node.slot());
  return std::count_if(node.pods().begin(), node.pods().end(),
                       [&](const pod_info_ptr& other) { return counts(each, pod, *other); });
}

void find_least(tally& of) {
  const auto domains = static_cast<std::int32_t>(of.by_domain.size());
  of.least = 0;
  if (domains == 0 || domains < of.constraint->min_domains) return;
  of.least = std::numeric_limits<std::int64_t>::max();
  for (const auto& [domain, pods] : of.by_domain)
    of.least = std::min(of.least, pods);
}

tallies count_hard(const constraints& of, const pod_info& pod, const cluster_view& view) {
  auto all = begin(of, pod, true);
  for (const auto* node : view.nodes()) {
    if (!has_domains(*node, all)) continue;
    for (auto& each : all)
      if (const auto& constraint = *each.constraint; counts(constraint, pod, *node))
        each.by_domain[*domain_of(*node, constraint.topology_key)] += count(each, pod, *node);
  }
  for (auto& each : all)
    find_least(each);
  return all;
}

// Counts the domains of feasible nodes.
tallies count_soft(const constraints& of, const pod_info& pod, const cluster_view& view,
                   const std::vector<const node_info*>& feasible) {
  auto all = begin(of, pod, false);
  for (const auto* node : feasible)
    if (has_domains(*node, all))
      for (auto& each : all)
        each.by_domain.try_emplace(*domain_of(*node, each.constraint->topology_key), 0);
  for (const auto* node : view.nodes()) {
    if (!has_domains(*node, all)) continue;
    for (auto& each : all) {
      const auto& constraint = *each.constraint;
      const auto found = each.by_domain.find(*domain_of(*node, constraint.topology_key));
      if (found != each.by_domain.end() && counts(constraint, pod, *node))
        found->second += count(each, pod, *node);
    }
  }
  return all;
}

// The score of a node in no domain: it is chosen last.
constexpr std::int64_t no_score = -1;

class topology_spread : public plugin,
                        public pre_filter_plugin,
                        public filter_plugin,
                        public pre_score_plugin,
                        public score_plugin {
 public:
  std::string_view name() const noexcept override { return "PodTopologySpread"; }
  std::uint32_t helped_by() const noexcept override {
    return node_added | node_labels_changed | node_taints_changed | pod_bound | pod_deleted;
  }

  void configure(const plugin_arguments& arguments) override {
    defaults_ = arguments.default_constraints;
  }

  status pre_filter(cycle& notes, const pod_info& pod, const cluster_view& view) const override {
    const auto of = constraints_of(pod, view);
    if (of.all.empty()) return {status_code::skip, {}};
    auto& hard = notes.make<spread_notes>(index()).hard;
    hard = count_hard(of, pod, view);
    return hard.empty() ? status{status_code::skip, {}} : status{};
  }

  void adjust(const cycle& notes, const pod_info& pod, const cluster_view&, const pod_info& other,
              const node_info& node, int by) const override {
    auto& all = notes.get<spread_notes>(index()).hard;
    if (!has_domains(node, all)) return;
    for (auto& each : all) {
      if (!counts(*each.constraint, pod, node) || !counts(each, pod, other)) continue;
      each.by_domain[*domain_of(node, each.constraint->topology_key)] += by;
      find_least(each);
    }
  }

  status filter(const cycle& notes, const pod_info&, const node_info& node) const override {
    for (const auto& each : notes.get<spread_notes>(index()).hard) {
      if (domain_of(node, each.constraint->topology_key) == nullptr)
        return {status_code::unresolvable,
                "node(s) didn't match pod topology spread constraints (missing required label)"};
      const auto skew = each.pods(node) + (each.self ? 1 : 0) - each.least;
      if (skew > each.constraint->max_skew)
        return {status_code::unschedulable, "node(s) didn't match pod topology spread constraints"};
    }
    return {};
  }

  status pre_score(cycle& notes, const pod_info& pod, const cluster_view& view,
                   const std::vector<const node_info*>& feasible) const override {
    if (const auto of = constraints_of(pod, view); !of.all.empty()) {
      auto& soft = notes.make<spread_notes>(index()).soft;
      soft = count_soft(of, pod, view, feasible);
      return soft.empty() ? status{status_code::skip, {}} : status{};
    }
    if (defaults_) return {status_code::skip, {}};
    const auto* siblings = view.siblings(pod);
    if (siblings == nullptr) return {status_code::skip, {}};
    notes.make<spread_notes>(index()).defaults = spread_siblings(*siblings, view, feasible);
    return {};
  }
  // More matching pods in the node's domain lower the score, weighted by number of domains.
  std::int64_t score(const cycle& notes, const pod_info&, const node_info& node) const override {
    const auto& found = notes.get<spread_notes>(index());
    if (found.defaults.by_node != nullptr) return score(found.defaults, node);
    if (!has_domains(node, found.soft)) return no_score;
    double total = 0;
    for (const auto& each : found.soft)
      total += cost(each.pods(node), each.constraint->max_skew, weight_of(each.by_domain.size()));
    return rounded(total);
  }
  void normalize(const cycle&, std::vector<std::int64_t>& scores) const override {
    auto low = std::numeric_limits<std::int64_t>::max(), high = no_score;
    for (const auto score : scores) {
      if (score != no_score) low = std::min(low, score);
      high = std::max(high, score);
    }
    for (auto& score : scores)
      score = score == no_score ? 0
              : score == low    ? max_score
                                : max_score * (high + low - score) / high;
  }

 private:
  // The pod's own constraints, or the configured ones for a controller's pod without any.
  constraints constraints_of(const pod_info& pod, const cluster_view& view) const {
    static const slot_counts none;
    if (!pod.spread.empty() || !defaults_ || pod.controller.empty()) return {pod.spread};
    const auto* siblings = view.siblings(pod);
    return {*defaults_, siblings == nullptr ? &none : siblings};
  }
  static std::int64_t score(const default_spread& spread, const node_info& node) {
    auto total = cost(spread.by_node->at(node.slot()), default_host_skew, spread.host_weight);
    if (const auto* zone = node.zone())
      total += cost(spread.by_zone.at(*zone), default_zone_skew, spread.zone_weight);
    return rounded(total);
  }

  std::optional<std::vector<spread_constraint>> defaults_;
};

}  // namespace

std::unique_ptr<plugin> make_topology_spread() {
  return std::make_unique<topology_spread>();
}

}  // namespace troupe::actors::scheduler
