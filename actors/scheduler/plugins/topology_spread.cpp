// Spreads pods that match a selector over the domains of a topology (zones, hosts): a hard
// constraint keeps the difference to the emptiest domain within maxSkew, a soft one prefers emptier
// domains (kubernetes: podtopologyspread).
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

// Matching pods by domain, for one constraint.
struct tally {
  const spread_constraint* constraint;
  std::unordered_map<std::string, std::int64_t> by_domain;
  std::int64_t least = 0;  // in the emptiest domain
  bool self = false;       // the pod itself matches the selector
};

struct spread_notes {
  std::vector<tally> hard, soft;
};

tally count(const spread_constraint& constraint, const pod_info& pod, const cluster_view& view) {
  tally result{&constraint, {}, 0, constraint.selector.matches(pod.pod->meta().labels())};
  const auto& space = pod.pod->meta().namespace_();
  for (const auto* node : view.nodes()) {
    const auto* domain = domain_of(*node, constraint.topology_key);
    if (domain == nullptr) continue;
    auto& pods = result.by_domain[*domain];
    for (const auto& other : node->pods())
      if (other->pod->meta().namespace_() == space &&
          !other->pod->meta().has_deletion_timestamp() &&
          constraint.selector.matches(other->pod->meta().labels()))
        ++pods;
  }
  result.least = std::numeric_limits<std::int64_t>::max();
  for (const auto& [domain, pods] : result.by_domain)
    result.least = std::min(result.least, pods);
  const auto domains = static_cast<std::int32_t>(result.by_domain.size());
  if (domains < constraint.min_domains || domains == 0) result.least = 0;
  return result;
}

class topology_spread : public plugin,
                        public pre_filter_plugin,
                        public filter_plugin,
                        public pre_score_plugin,
                        public score_plugin {
 public:
  std::string_view name() const noexcept override { return "PodTopologySpread"; }
  std::uint32_t helped_by() const noexcept override {
    return node_added | node_labels_changed | pod_bound | pod_deleted;
  }

  status pre_filter(cycle& notes, const pod_info& pod, const cluster_view& view) const override {
    if (pod.spread.empty()) return {verdict::skip, {}};
    auto& all = notes.make<spread_notes>(index());
    for (const auto& constraint : pod.spread)
      (constraint.hard ? all.hard : all.soft).push_back(count(constraint, pod, view));
    return all.hard.empty() ? status{verdict::skip, {}} : status{};
  }

  status filter(const cycle& notes, const pod_info&, const node_info& node) const override {
    for (const auto& each : notes.get<spread_notes>(index()).hard) {
      const auto* domain = domain_of(node, each.constraint->topology_key);
      if (domain == nullptr)
        return {verdict::unresolvable,
                "node(s) didn't match pod topology spread constraints (missing required label)"};
      const auto skew = each.by_domain.at(*domain) + (each.self ? 1 : 0) - each.least;
      if (skew > each.constraint->max_skew)
        return {verdict::unschedulable, "node(s) didn't match pod topology spread constraints"};
    }
    return {};
  }

  status pre_score(cycle& notes, const pod_info& pod, const cluster_view&,
                   const std::vector<const node_info*>&) const override {
    return pod.spread.empty() || notes.get<spread_notes>(index()).soft.empty()
               ? status{verdict::skip, {}}
               : status{};
  }
  // The more matching pods in the node's domain, the worse; rarer domains weigh less.
  std::int64_t score(const cycle& notes, const pod_info&, const node_info& node) const override {
    double total = 0;
    for (const auto& each : notes.get<spread_notes>(index()).soft) {
      const auto* domain = domain_of(node, each.constraint->topology_key);
      if (domain == nullptr) continue;
      const auto weight = std::log(static_cast<double>(each.by_domain.size() + 2));
      total += static_cast<double>(each.by_domain.at(*domain)) * weight +
               (each.constraint->max_skew - 1);
    }
    return std::llround(total);
  }
  void normalize(const cycle&, std::vector<std::int64_t>& scores) const override {
    if (scores.empty()) return;
    const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
    const auto low = *least, high = *most;
    for (auto& score : scores)
      score = high == 0 ? max_score : max_score * (high + low - score) / high;
  }
};

}  // namespace

std::unique_ptr<plugin> make_topology_spread() {
  return std::make_unique<topology_spread>();
}

}  // namespace troupe::actors::scheduler
